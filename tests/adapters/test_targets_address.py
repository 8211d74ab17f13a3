"""Which URLs may be called back: what is refused by which rule, and what stands below an allowed one."""

import pytest

from bot.adapters.targets.address import read, read_allowed
from bot.core.errors import ConfigError, Invalid

ALLOWED = read_allowed(["https://hooks.example.com/hitl/", "http://[2001:db8::1]:8080/", "https://bücher.example/a%2Db"])


def _allowed(url: str) -> bool:
    return any(read(url).below(allowed) for allowed in ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/hitl",
        "https://hooks.example.com/hitl/",
        "https://hooks.example.com/hitl?token=1",
        "https://hooks.example.com/hitl/run/1?x=%2F..%2F",
        "https://hooks.example.com/hitl/...",
        "https://hooks.example.com/%68itl/run",
        "https://hooks.example.com:443/hitl/run",
        "https://hooks.example.com:/hitl/run",
        "HTTPS://Hooks.EXAMPLE.com/hitl/run",
        "https://hooks。example.com/hitl/run",
        "http://[2001:DB8:0:0::1]:8080/any/where",
        "https://BÜCHER.example/a-b/c",
        "https://xn--bcher-kva.example/a-b",
    ],
)
def test_below_an_allowed_url(url: str) -> None:
    """Scheme, host, port and whole path segments are compared, however they are written."""
    assert _allowed(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/hitl/run",
        "https://hooks.example.com:8443/hitl/run",
        "https://hooks.example.com/",
        "https://hooks.example.com",
        "https://hooks.example.com/hitlx",
        "https://hooks.example.com/hitl;x=1/run",
        "https://hooks.example.com/HITL/run",
        "https://hooks.example.com//hitl/run",
        "https://hooks.example.com/x/hitl/run",
        "https://hooks.example.com.evil.example/hitl/run",
        "https://evil.example/hooks.example.com/hitl",
        "https://xhooks.example.com/hitl/run",
        "https://example.com/hitl/run",
        "https://hooks.example.com?/hitl/run",
        "http://[2001:db8::2]:8080/",
        "https://bucher.example/a-b",
    ],
)
def test_not_below_an_allowed_url(url: str) -> None:
    assert not _allowed(url)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://hooks.example.com/hitl", "url_scheme"),
        ("file:///etc/passwd", "url_scheme"),
        ("//hooks.example.com/hitl", "url_scheme"),
        ("hooks.example.com/hitl", "url_scheme"),
        ("", "url_scheme"),
        ("https://user@hooks.example.com/hitl", "url_credentials"),
        ("https://:pw@hooks.example.com/hitl", "url_credentials"),
        ("https://hooks.example.com@evil.example/hitl", "url_credentials"),
        ("https://@hooks.example.com/hitl", "url_credentials"),
        ("https://hooks.example.com/hitl#part", "url_fragment"),
        ("https://hooks.example.com/hitl#", "url_fragment"),
        ("https://evil.example#hooks.example.com/hitl", "url_fragment"),
        ("https://hooks.example.com/hitl/../admin", "url_path"),
        ("https://hooks.example.com/hitl/..", "url_path"),
        ("https://hooks.example.com/./hitl", "url_path"),
        ("https://hooks.example.com/hitl/%2e%2E/admin", "url_path"),
        ("https://hooks.example.com/hitl/.%2e/admin", "url_path"),
        ("https://hooks.example.com/hitl/%252e%252e/admin", "url_path"),
        ("https://hooks.example.com/hitl/%25252e./admin", "url_path"),
        ("https://hooks.example.com/hitl/..;x=1/admin", "url_path"),
        ("https://hooks.example.com/hitl/..%3b/admin", "url_path"),
        ("https://hooks.example.com/hitl%2Frun", "url_path"),
        ("https://hooks.example.com/hitl/..%2fadmin", "url_path"),
        ("https://hooks.example.com/hitl/a%252fb", "url_path"),
        ("https://hooks.example.com/hitl/..%5cadmin", "url_path"),
        ("https://hooks.example.com/hitl/..%00/admin", "url_path"),
        ("https://hooks.example.com/hitl/%0d%0aX:1", "url_path"),
        ("https://hooks.example.com/hitl/%zz", "url_unusable"),
        ("https://hooks.example.com/hitl/ä", "url_unusable"),
        ("https://hooks.example.com/hitl?ä", "url_unusable"),
        ("https://hooks.example.com\\@evil.example/hitl", "url_unusable"),
        ("https://hooks.example.com/hitl\r\nX: 1", "url_unusable"),
        ("https://hooks.example\t.com/hitl", "url_unusable"),
        (" https://hooks.example.com/hitl", "url_unusable"),
        ("https:///hitl", "url_unusable"),
        ("https:/hooks.example.com/hitl", "url_unusable"),
        ("https://hooks.example.com./hitl", "url_unusable"),
        ("https://hooks..example.com/hitl", "url_unusable"),
        ("https://hooks%2eexample.com/hitl", "url_unusable"),
        ("https://hooks.example.com:0/hitl", "url_unusable"),
        ("https://hooks.example.com:99999/hitl", "url_unusable"),
        ("https://hooks.example.com:x/hitl", "url_unusable"),
        ("https://[fe80::1%25eth0]/hitl", "url_unusable"),
        ("https://[::1/hitl", "url_unusable"),
        ("https://[v1.x]/hitl", "url_unusable"),
        ("https://faß.example/hitl", "url_unusable"),
        ("https://hooks.example.com／hitl/x", "url_unusable"),
        ("https://hooks.example.com/hitl/" + "x" * 2000, "url_unusable"),
    ],
)
def test_refused_by_a_named_rule(url: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        read(url)
    assert (caught.value.field, caught.value.code) == ("resume.url", code)


def test_passwords_and_queries_are_not_repeated() -> None:
    """Neither in what a refusal says nor in how an address is shown."""
    with pytest.raises(Invalid) as caught:
        read("https://dana:hunter2@hooks.example.com/hitl?token=s3cret")
    assert "hunter2" not in caught.value.message
    assert str(read("https://hooks.example.com:443/hitl/a%20b?token=s3cret")) == "https://hooks.example.com/hitl/a%20b"


@pytest.mark.parametrize(
    "url", ["hooks.example.com", "https://u:p@hooks.example.com/", "https://hooks.example.com/?", "ftp://x/"]
)
def test_an_unusable_allowed_url_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError, match="number 2"):
        read_allowed(["https://hooks.example.com/", url])
