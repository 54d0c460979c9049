"""The `amos` command, one module per group of sub-commands."""
