"""`agentbench schema`: the JSON Schema of every document that commands print."""

from __future__ import annotations

import click

from agentbench_tui.cli.console.output import format_option, print_json, print_rows
from agentbench_tui.presentation.report import Column

_COLUMNS = (Column("name", "document", names_row=True), Column("description", "what it is"))


@click.command(short_help="Print the JSON Schema of a printed document.")
@click.argument("name", required=False, metavar="[NAME]")
@format_option()
def schema(name: str | None, form: str) -> int:
    """Print the JSON Schema of the document NAME, or list all documents.

    A document's name is in its `schema` field. The `agentbench.` in front and the number after the
    slash can be left out. A schema is always printed as JSON.

    \b
    agentbench schema
    agentbench schema run
    agentbench schema agentbench.compare/1 > compare.schema.json
    """
    from agentbench_tui.contracts.catalog import document_classes, json_schema, schema_names
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.listings import ListedSchema, SchemasDocument

    if name is not None:
        print_json(json_schema(name))
        return 0
    listed = [
        ListedSchema(name=one, description=_first_lines(document_classes(one)))
        for one in schema_names()
    ]
    print_rows(plain(listed), _COLUMNS, form, plain(SchemasDocument(schemas=tuple(listed))))
    return 0


def _first_lines(classes: tuple[type, ...]) -> str:
    return " ".join((one.__doc__ or "").partition("\n")[0] for one in classes)
