"""`python -m amos_graph` and the `amos` script."""

from __future__ import annotations

from amos_graph.cli.main import app


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
