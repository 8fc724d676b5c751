#include "lib/policy/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

namespace sluice {
namespace {

Position place_of(const YAML::Mark& mark) {
    return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
}

// What our own rules refuse; YAML::Exception is what the reader refuses.
struct Refused : std::runtime_error {
    Refused(Position where, const std::string& what) : std::runtime_error{what}, at{where} {}
    Position at;
};

// Builds the tree from the reader's events. The reader's own Node takes duplicate keys and aliases
// without a word, so it is not used.
class TreeBuilder : public YAML::EventHandler {
public:
    explicit TreeBuilder(Problems& problems) : problems_{problems} {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            throw Refused{place_of(mark), "one document a file; a second one starts here"};
        }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_anchor(mark, anchor);
        add({.at = place_of(mark)});
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw Refused{place_of(mark), "aliases (*name) are not used here; write the value out"};
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_anchor(mark, anchor);
        refuse_tag(mark, tag);
        add({.kind = YamlNode::Kind::Scalar,
             .at = place_of(mark),
             .plain = tag == "?",
             .text = value});
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::List, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::Map, mark, tag, anchor);
    }
    void OnMapEnd() override { close(); }

    [[nodiscard]] YamlNode take() { return std::move(root_); }

private:
    struct Open {
        YamlNode node;
        std::optional<YamlNode> key;  // of a map: read, its value not yet
        std::set<std::string> seen;
    };

    static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != YAML::NullAnchor) {
            throw Refused{place_of(mark), "anchors (&name) are not used here"};
        }
    }
    static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!") {
            throw Refused{place_of(mark), "tags (" + tag + ") are not used here"};
        }
    }
    void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
              YAML::anchor_t anchor) {
        refuse_anchor(mark, anchor);
        refuse_tag(mark, tag);
        if (open_.size() == kMaxYamlDepth) {
            throw Refused{place_of(mark), "nested too deep"};
        }
        open_.push_back({.node = {.kind = kind, .at = place_of(mark)}, .key = {}, .seen = {}});
    }
    void close() {
        YamlNode done = std::move(open_.back().node);
        open_.pop_back();
        add(std::move(done));
    }
    void add(YamlNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.is_list()) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.key) {
            add_key(parent, std::move(node));
        } else {
            parent.node.entries.push_back({*std::move(parent.key), std::move(node)});
            parent.key.reset();
        }
    }
    void add_key(Open& parent, YamlNode key) {
        if (!key.is_scalar()) {
            throw Refused{key.at, "a key must be a word"};
        }
        if (key.plain && key.text == "<<") {
            throw Refused{key.at, "merge keys (<<) are not used here"};
        }
        if (!parent.seen.insert(key.text).second) {
            problems_.error(key.at, "`" + key.text + "` is given twice");
        }
        parent.key = std::move(key);
    }

    Problems& problems_;
    YamlNode root_;
    std::vector<Open> open_;
    int documents_ = 0;
};

// Length of the UTF-8 sequence at the front, 0 if it is none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                       continues)
               ? length
               : 0;
}

// The first byte that is neither UTF-8 nor allowed in a text file; npos when there is none.
std::size_t first_bad_byte(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
        const std::size_t length = control ? 0 : utf8_length(text.substr(at));
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::string_view::npos;
}

Position place_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n');
    const std::size_t column =
        line_start == std::string_view::npos ? offset : offset - line_start - 1;
    return {static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<std::uint32_t>(column) + 1};
}

std::size_t offset_of(std::string_view text, Position at) {
    std::size_t offset = 0;
    for (std::uint32_t line = 1; line < at.line && offset < text.size(); ++line) {
        const std::size_t end = text.find('\n', offset);
        offset = end == std::string_view::npos ? text.size() : end + 1;
    }
    return std::min(offset + at.column - 1, text.size());
}

}  // namespace

std::optional<YamlNode> read_yaml(std::string_view text, Problems& problems) {
    if (text.size() > kMaxTextSize) {
        problems.error({}, "the file is larger than 64 MiB");
        return std::nullopt;
    }
    const std::size_t bad = first_bad_byte(text);
    if (bad != std::string_view::npos) {
        problems.error(place_at(text, bad), "not UTF-8 text");
        return std::nullopt;
    }
    try {
        std::istringstream stream{std::string{text}};
        YAML::Parser parser{stream};
        TreeBuilder builder{problems};
        while (parser.HandleNextDocument(builder)) {
        }
        return builder.take();
    } catch (const Refused& refused) {
        problems.error(refused.at, refused.what());
    } catch (const YAML::Exception& error) {
        problems.error(error.mark.is_null() ? Position{} : place_of(error.mark), error.msg);
    } catch (const std::exception& error) {
        problems.error({}, error.what());
    }
    return std::nullopt;
}

Position place_in(std::string_view file, const YamlNode& scalar, std::size_t offset) {
    std::size_t at = offset_of(file, scalar.at);
    if (at < file.size() && !scalar.plain && (file[at] == '|' || file[at] == '>')) {
        at = std::min(file.find('\n', at), file.size());  // behind the block's header
    } else if (at < file.size() && !scalar.plain) {
        ++at;  // behind the quote
    }
    // The text keeps the file's characters in their order; what lies between two of them is
    // indentation, line ends and escapes.
    std::size_t found = at;
    for (std::size_t i = 0; i <= offset && i < scalar.text.size(); ++i) {
        const std::size_t next = file.find(scalar.text[i], at);
        if (next == std::string_view::npos) {
            break;
        }
        found = next;
        at = next + 1;
    }
    if (offset >= scalar.text.size()) {
        found = std::min(at, file.size());
    }
    return place_at(file, found);
}

}  // namespace sluice
