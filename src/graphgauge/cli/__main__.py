"""Let ``python -m graphgauge.cli`` run the command line."""

import sys

from graphgauge.cli import main

sys.exit(main())
