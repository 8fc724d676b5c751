#include "lib/policy/yaml/scalar_places.hpp"

#include "lib/policy/problems/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sluice {
namespace {

enum class Style : std::uint8_t { Plain, Single, Double, Block };

Style style_at(std::string_view file, std::size_t at, bool plain) noexcept {
    if (plain || at >= file.size()) {
        return Style::Plain;
    }
    switch (file[at]) {
        case '|':
        case '>':
            return Style::Block;
        case '"':
            return Style::Double;
        default:
            return Style::Single;
    }
}

// The place where the first byte of the text may stand.
std::size_t first_byte(std::string_view file, std::size_t at, Style style) noexcept {
    switch (style) {
        case Style::Plain:
            return at;
        case Style::Block:  // behind the header's line
            return std::min(file.find('\n', at), file.size());
        default:  // behind the quote
            return std::min(at + 1, file.size());
    }
}

// How many bytes an escape of a double-quoted scalar takes in the file: \n, \x41, \u0041, \U…
std::size_t escape_size(char kind) noexcept {
    switch (kind) {
        case 'x':
            return 4;
        case 'u':
            return 6;
        case 'U':
            return 10;
        default:
            return 2;
    }
}

bool is_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Walks the file beside the text. The text keeps the file's characters in their order; what lies
// between two of them is indentation, line ends and escapes.
class Walk {
public:
    Walk(std::string_view file, std::size_t at, Style style)
        : file_{file}, at_{at}, style_{style} {}

    // The place of the text's next byte.
    std::size_t next(char byte) {
        if (is_utf8_continuation(byte) && escaped_) {
            return character_;  // of a character that one escape wrote
        }
        skip_folds(byte);
        escaped_ = style_ == Style::Double && at_ < file_.size() && file_[at_] == '\\';
        const std::size_t found = at_;
        if (escaped_) {
            at_ += at_ + 1 < file_.size() ? escape_size(file_[at_ + 1]) : 1;
        } else {
            const bool doubled = style_ == Style::Single && byte == '\'';
            at_ += doubled ? 2 : 1;
        }
        at_ = std::min(at_, file_.size());
        character_ = std::min(found, file_.size());
        return character_;
    }
    [[nodiscard]] std::size_t here() const noexcept { return at_; }

private:
    // Steps over what gave no byte, to where `byte` stands.
    void skip_folds(char byte) {
        while (at_ < file_.size() && file_[at_] != byte) {
            const bool joint =
                style_ == Style::Double && file_[at_] == '\\' && at_ + 1 < file_.size();
            if (joint && file_[at_ + 1] != '\n' && file_[at_ + 1] != '\r') {
                return;  // an escape stands for the byte
            }
            if (byte == ' ' && file_[at_] == '\n') {
                return;  // a folded line end
            }
            if (!is_space(file_[at_]) && !joint) {
                return;  // nothing else is left out
            }
            ++at_;
        }
    }

    std::string_view file_;
    std::size_t at_;
    Style style_;
    bool escaped_ = false;
    std::size_t character_ = 0;
};

}  // namespace

ScalarPlaces::ScalarPlaces(const LineIndex& lines, const YamlNode& scalar) : lines_{lines} {
    const std::string_view file = lines.text();
    const std::size_t at = lines.offset_of(scalar.at);
    const Style style = style_at(file, at, scalar.plain);
    Walk walk{file, first_byte(file, at, style), style};
    offsets_.reserve(scalar.text.size() + 1);
    for (const char byte : scalar.text) {
        offsets_.push_back(walk.next(byte));
    }
    offsets_.push_back(walk.here());
}

Position ScalarPlaces::operator[](std::size_t offset) const noexcept {
    return lines_.place_at(offsets_[std::min(offset, offsets_.size() - 1)]);
}

}  // namespace sluice
