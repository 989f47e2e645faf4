"""The subcommands: each turns what was asked on the command line into something done."""

from argparse import Namespace


def run(options: Namespace) -> int:
    """Run a parsed command line."""
    if options.command == "rooms":
        from .rooms import rooms

        return rooms(options)
    if options.command == "variants":
        from .variants import variants

        return variants(options)
    from .enter import enter

    return enter(options)
