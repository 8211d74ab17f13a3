"""Measurements as ratios against a baseline taken in the same run, so that they mean something on any machine."""
