"""The commands and their options. What they do is imported when they run, so that `hitl --help` is quick."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="hitl",
    help="Human in the loop on GitLab issues: ask in a thread, collect eligible replies, Continue, resume.",
    epilog="Exit codes: 0 done, 1 our fault, 2 usage or configuration, 3 refused, 4 unreachable, 5 no answer in time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
keys = typer.Typer(help="Keys that flows call the API with.", no_args_is_help=True)
database = typer.Typer(help="The database.", no_args_is_help=True)
resume = typer.Typer(help="Resumes: what a flow was, or is to be, resumed with.", no_args_is_help=True)
app.add_typer(keys, name="keys")
app.add_typer(resume, name="resume")
app.add_typer(database, name="db")

Config = Annotated[Path, typer.Option("--config", "-c", help="Configuration file.", envvar="HITL_CONFIG")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Item = Annotated[str, typer.Argument(help="group/project#12, or the issue's URL.")]
Url = Annotated[str, typer.Option("--url", help="Where the bot is.", envvar="HITL_URL")]
Token = Annotated[
    str,
    typer.Option(
        "--token",
        help="A flow's key (hitl_…) or your own GitLab token.",
        envvar="HITL_KEY",
        show_envvar=True,
        show_default=False,
    ),
]
CONFIG = Path("config.toml")
URL = "http://127.0.0.1:8080"


@app.command()
def demo(
    auto: Annotated[bool, typer.Option("--auto", help="Scripted people answer; print the story and exit.")] = False,
    as_json: AsJson = False,
    tracker_port: Annotated[int, typer.Option(help="Port of the sandbox tracker; 0 for any.")] = 8929,
    bot_port: Annotated[int, typer.Option(help="Port of the bot; 0 for any.")] = 8080,
) -> None:
    """Try it: a sandbox tracker, the bot and an example flow on this machine."""
    if auto:
        from bot.cli.demo_auto import run

        run(as_json=as_json)
    else:
        from bot.cli.demo import stay

        stay(tracker_port=tracker_port, bot_port=bot_port)


@app.command()
def sandbox(port: Annotated[int, typer.Option(help="Port to listen on; 0 for any.")] = 8929) -> None:
    """Start only the sandbox tracker, with its example project and people."""
    from bot.cli.serving import sandbox as run

    run(port)


@app.command()
def serve(config: Config = CONFIG) -> None:
    """Run the bot: hook listener, API and worker in one process."""
    from bot.cli.serving import serve as run

    run(config)


@app.command()
def ask(
    item: Item,
    text: Annotated[str, typer.Argument(help="The question.")],
    option: Annotated[list[str] | None, typer.Option("--option", "-o", help="A choice; repeat it. Keys are A, B, …")] = None,
    recommend: Annotated[list[str] | None, typer.Option("--recommend", "-r", help="Key of the recommended option.")] = None,
    multi: Annotated[bool, typer.Option("--multi", help="Several options may be chosen.")] = False,
    yes_no: Annotated[bool, typer.Option("--yes-no", help="A question to answer with yes or no.")] = False,
    options_only: Annotated[bool, typer.Option("--options-only", help="No answers in people's own words.")] = False,
    flow: Annotated[str, typer.Option(help="Name of the flow.")] = "ask",
    goal: Annotated[str, typer.Option(help="What the flow is about; defaults to the question.")] = "",
    owner: Annotated[str | None, typer.Option(help="Username the run belongs to; needed with a flow's key.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until somebody presses Continue, then print the answer.")] = False,
    timeout: Annotated[float | None, typer.Option(help="Seconds to wait at most.")] = None,
    url: Url = URL,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Ask one question on an issue."""
    from bot.cli.asking import Asked
    from bot.cli.asking import ask as run

    asked = Asked(text, tuple(option or ()), tuple(recommend or ()), multi, yes_no, options_only)
    run(item, asked, flow=flow, goal=goal, owner=owner, wait=wait, timeout=timeout, url=url, token=token, as_json=as_json)


@app.command("continue")
def press_continue(
    target: Annotated[str, typer.Argument(help="A run's id (or its beginning), or the item it waits on.")],
    url: Url = URL,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Press Continue: the flow resumes with the answers there are."""
    from bot.cli.asking import press_continue as run

    run(target, url=url, token=token, as_json=as_json)


@app.command()
def questions(item: Item, url: Url = URL, token: Token = "", as_json: AsJson = False) -> None:
    """What is asked on an issue, and how each question stands."""
    from bot.cli.asking import questions as run

    run(item, url=url, token=token, as_json=as_json)


@app.command()
def explain(
    question: Annotated[str, typer.Argument(help="The question's id.")], config: Config = CONFIG, as_json: AsJson = False
) -> None:
    """Why a question stands as it does: every note of its thread, and whether it counts."""
    from bot.cli.explaining import explain as run

    run(question, config, as_json=as_json)


@app.command()
def recover(item: Item, config: Config = CONFIG, as_json: AsJson = False) -> None:
    """Rebuild an issue's open questions from its notes, after the database was lost."""
    from bot.cli.operating import recover as run

    run(item, config, as_json=as_json)


@keys.command("create")
def keys_create(
    project: Annotated[list[str], typer.Option("--project", "-p", help="Path of a configured project; repeat it.")],
    name: Annotated[str, typer.Option(help="What the key is called in receipts.")] = "flow",
    owner: Annotated[list[str] | None, typer.Option(help="Only runs of this username; repeat it.")] = None,
    config: Config = CONFIG,
    as_json: AsJson = False,
) -> None:
    """Make a key. Its secret is shown once."""
    from bot.cli.operating import create

    create(project, name, owner or [], config, as_json=as_json)


@keys.command("list")
def keys_list(config: Config = CONFIG, as_json: AsJson = False) -> None:
    """The keys there are; their secrets are not kept."""
    from bot.cli.operating import list_keys

    list_keys(config, as_json=as_json)


@keys.command("revoke")
def keys_revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, as `hitl keys list` shows it.")],
    config: Config = CONFIG,
) -> None:
    """End a key at once, for good."""
    from bot.cli.operating import revoke

    revoke(key_id, config)


@resume.command("show")
def resume_show(
    resume_id: Annotated[str, typer.Argument(help="The resume's id.")], config: Config = CONFIG, as_json: AsJson = False
) -> None:
    """How far a resume is, and its document."""
    from bot.cli.operating import show_resume

    show_resume(resume_id, config, as_json=as_json)


@resume.command("redrive")
def resume_redrive(resume_id: Annotated[str, typer.Argument(help="The resume's id.")], config: Config = CONFIG) -> None:
    """Hand a resume over again, from now."""
    from bot.cli.operating import redrive_resume

    redrive_resume(resume_id, config)


@database.command("upgrade")
def db_upgrade(config: Config = CONFIG) -> None:
    """Bring the database to this version's tables; `hitl serve` does it too."""
    from bot.cli.operating import upgrade

    upgrade(config)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        from bot import __version__

        typer.echo(__version__)
        raise typer.Exit
