"""One module per scenario: `async def run(stand, spec, normal, reporter)`."""
