"""Run the command as `python -m wa_mcp`."""

import sys

from wa_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
