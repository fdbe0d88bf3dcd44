"""One module a scenario: `async def run(stand, spec, normal, reporter)`."""
