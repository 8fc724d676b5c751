"""Assets as C++: all their bytes in one file, which the assembler includes, and a table of where each begins."""
import hashlib
import json

import page_rules

HEAD = '''// Made by control/web/embed.py of {digest}.
#include "control/web/asset.hpp"

#include <array>
#include <cstddef>

asm(R"(
    .pushsection .rodata
    .hidden sluice_web_bytes
    .globl sluice_web_bytes
    .balign 16
sluice_web_bytes:
    .incbin "{blob}"
    .byte 0
    .popsection
)");
extern "C" [[gnu::visibility("hidden")]] const char sluice_web_bytes[];  // NOLINT

namespace sluice {{
namespace {{

constexpr std::string_view web_bytes(std::size_t begin, std::size_t size) noexcept {{
    return {{sluice_web_bytes + begin, size}};
}}

constinit const std::array<WebAsset, {count}> kWebAssets{{{{
'''
TAIL = '''}}}};

}}  // namespace

std::span<const WebAsset> web_assets() noexcept {{
    return kWebAssets;
}}

std::string_view web_version() noexcept {{
    return "{version}";
}}

}}  // namespace sluice
'''


def digest_of(content):
    return hashlib.sha256(content).hexdigest()


def literal(text):
    return json.dumps(text)


def write(page, rows, out):
    blob, lines, digests = b"", [], []
    for row in rows:
        plain = (page / row["file"]).read_bytes()
        packed = page_rules.compressed(plain)
        packed = packed if len(packed) < len(plain) else b""
        digests.append(f"{row['path']} {digest_of(plain)}")
        etag = literal(f'"{digest_of(plain)[:16]}"')
        lines.append(f"    {{{literal(row['path'])}, {literal(row['type'])}, {etag},\n"
                     f"     web_bytes({len(blob)}, {len(plain)}), web_bytes({len(blob) + len(plain)}, {len(packed)}), "
                     f"{'true' if row['immutable'] else 'false'}}},\n")
        blob += plain + packed
    version = digest_of("\n".join(digests).encode())[:16]
    path = out / "web_assets.bin"
    path.write_bytes(blob)
    # The digest makes another source of another blob, so that it is assembled anew.
    text = HEAD.format(digest=digest_of(blob), blob=path.resolve(), count=len(rows)) + "".join(lines) + TAIL.format(version=version)
    (out / "web_assets.cpp").write_text(text, encoding="utf-8")
