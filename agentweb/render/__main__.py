"""`python -m agentweb.render static/css/code.css` writes the static sheet that colours code."""

import sys
from pathlib import Path

from agentweb.render.highlight import combined_stylesheet

Path(sys.argv[1]).write_text(combined_stylesheet(), encoding="utf-8")
