"""embed_lua.py LUA OUT: the text of LUA as C++ strings of control/store/function_text.hpp: as a library of functions, and as
one script, whose first argument names the function, with its SHA-1."""
import hashlib
import pathlib
import re
import sys

REGISTRATION = re.compile(r"^redis\.register_function\W+(?:function_name = )?'(\w+)', (?:callback = )?(\w+).*\n", re.M)


def literals(text):
    assert ')lua"' not in text
    return "\n".join(f'R"lua({text[at:at + 8000]})lua"' for at in range(0, len(text), 8000))


def as_script(text):
    calls = ", ".join(f"{name} = {function}" for name, function in REGISTRATION.findall(text))
    body = REGISTRATION.sub("", text.split("\n", 1)[1])
    assert "register_function" not in body and calls
    return f"{body}return ({{{calls}}})[table.remove(ARGV, 1)](KEYS, ARGV)\n"


source, out = map(pathlib.Path, sys.argv[1:])
library = source.read_text()
script = as_script(library)
out.write_text('#include "control/store/function_text.hpp"\n\nnamespace sluice {\n\n'
               f'const std::string_view kStoreFunction = {literals(library)};\n\n'
               f'const std::string_view kStoreScript = {literals(script)};\n\n'
               f'const std::string_view kStoreScriptSha = "{hashlib.sha1(script.encode()).hexdigest()}";\n\n'
               '}  // namespace sluice\n')
