#include "control/visible_text.hpp"

#include "lib/policy/problems/utf8.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr std::string_view kNoUtf8 = "\uFFFD";

bool is_control_code(char32_t code) noexcept {
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

bool is_hidden(char32_t code) noexcept {
    return is_control_code(code) || code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// The code point of a well-formed sequence.
char32_t code_of(std::string_view sequence) noexcept {
    const auto lead = static_cast<unsigned char>(sequence.front());
    if (sequence.size() == 1) {
        return lead;
    }
    char32_t code = lead & (0x7FU >> sequence.size());
    for (const char c : sequence.substr(1)) {
        code = code << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    }
    return code;
}

std::string escape_of(char32_t code) {
    switch (code) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    }
}

std::string visible(std::string_view text, std::string_view kept) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            out += kNoUtf8;
            text.remove_prefix(1);
            continue;
        }
        const std::string_view sequence = text.substr(0, length);
        const char32_t code = code_of(sequence);
        const bool stays = !is_hidden(code) || kept.find(sequence) != std::string_view::npos;
        out += stays ? std::string{sequence} : escape_of(code);
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace

bool has_control(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length != 0 && is_control_code(code_of(text.substr(0, length)))) {
            return true;
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return false;
}

std::string visible_line(std::string_view text) {
    return visible(text, "");
}

std::string visible_text(std::string_view text) {
    return visible(text, "\t\n");
}

// Outside its texts a document has none but line ends; in them JSON knows the same escapes.
std::string visible_json(std::string_view document) {
    return visible(document, "\n");
}

}  // namespace sluice
