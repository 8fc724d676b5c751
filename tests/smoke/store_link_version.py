"""The version of the link between dataplane and sluice-store, as lib/wire/store_messages.hpp has it."""
import pathlib
import re

_MESSAGES = pathlib.Path(__file__).resolve().parents[2] / "lib/wire/store_messages.hpp"
VERSION = int(re.search(r"kStoreLinkVersion = (\d+)", _MESSAGES.read_text(encoding="utf-8"))[1])
