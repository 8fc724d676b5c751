"""embed_lua.py LUA OUT: the text of LUA as a C++ string of control/store/function_text.hpp."""
import pathlib
import sys

source, out = map(pathlib.Path, sys.argv[1:])
text = source.read_text()
assert ')lua"' not in text
pieces = [text[at:at + 8000] for at in range(0, len(text), 8000)]
literals = "\n".join(f'R"lua({piece})lua"' for piece in pieces)
out.write_text('#include "control/store/function_text.hpp"\n\nnamespace sluice {\n\n'
               f'const std::string_view kStoreFunction = {literals};\n\n}}  // namespace sluice\n')
