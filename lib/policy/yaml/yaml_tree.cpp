#include "lib/policy/yaml/yaml_tree.hpp"

#include "lib/policy/problems/utf8.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <stdexcept>

namespace sluice {
namespace {

Position place_of(const YAML::Mark& mark) {
    return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1};
}

// A refusal by our own rules; YAML::Exception is one by the reader.
struct Refused : std::runtime_error {
    Refused(Position where, const std::string& what) : std::runtime_error{what}, at{where} {}
    Position at;
};

// True if a text begins with a quote that nothing closes.
bool is_open_quote(std::string_view text) {
    const char quote = text.empty() ? '\0' : text.front();
    if (quote != '"' && quote != '\'') {
        return false;
    }
    for (std::size_t at = 1; at < text.size(); ++at) {
        const bool pair = at + 1 < text.size() &&
                          (quote == '"' ? text[at] == '\\' : text.substr(at).starts_with("''"));
        if (pair) {
            ++at;
        } else if (text[at] == quote) {
            return false;
        }
    }
    return true;
}

// A tab that stands before all else in that line.
std::optional<Position> leading_tab(const LineIndex& lines, Position at) {
    const std::size_t begin = lines.offset_of({at.line, 1});
    const std::string_view line = lines.text().substr(begin);
    const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
    return tab == std::string_view::npos ? std::nullopt
                                         : std::optional{lines.place_at(begin + tab)};
}

// Faults that the reader names by its grammar, as those who wrote the text see them.
struct GrammarFault {
    std::string_view named;
    std::string_view what;
};
const auto kGrammarFaults = std::to_array<GrammarFault>({
    {YAML::ErrorMsg::END_OF_SEQ,
     "this line is indented like no line before it, or belongs to no item of the list above: items "
     "of a list begin with `- ` in one column, and the keys of an item in one column behind it"},
    {YAML::ErrorMsg::END_OF_MAP,
     "this line is indented like no line before it: keys of one map stand in one column"},
    {YAML::ErrorMsg::MAP_VALUE,
     "a value stands before this `:` already: the line is indented deeper than the keys beside it, "
     "or a text with `: ` in it needs quotes"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW,
     "between { and } a text with one of { } [ ] , stands in quotes, such as when: 'l4.dport in "
     "{80 443}'; or a bracket is not closed"},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW,
     "between [ and ] a text with one of { } [ ] , stands in quotes; or a bracket is not closed"},
});

std::string words_of(const YAML::Exception& error) {
    const auto known =
        std::find_if(kGrammarFaults.begin(), kGrammarFaults.end(),
                     [&](const GrammarFault& one) { return one.named == error.msg; });
    return known == kGrammarFaults.end() ? error.msg : std::string{known->what};
}

// Builds the tree from the reader's events. The reader's own Node takes duplicate keys and aliases
// without a word, so it is not used.
class TreeBuilder : public YAML::EventHandler {
public:
    TreeBuilder(const LineIndex& lines, Problems& problems) : lines_{lines}, problems_{problems} {}

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
        refuse_control(mark, value);
        last_scalar_ = lines_.offset_of(place_of(mark));
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

    // The reader takes the end of the file for a closing quote, and all that stood before it for
    // text.
    void refuse_open_quote() const {
        if (last_scalar_ && is_open_quote(lines_.text().substr(*last_scalar_))) {
            throw Refused{lines_.place_at(*last_scalar_), "this text has no closing quote"};
        }
    }

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
    // Without a tag the reader says `?` of plain scalars and `!` of quoted ones; `!` written out
    // looks the same, so the file is asked.
    void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
        const std::size_t at = lines_.offset_of(place_of(mark));
        const bool written = tag == "!" && lines_.text().substr(at).starts_with('!');
        if (written || (!tag.empty() && tag != "?" && tag != "!")) {
            throw Refused{place_of(mark), "tags (" + tag + ") are not used here"};
        }
    }
    // The text of the file was checked before; this is what escapes write.
    void refuse_control(const YAML::Mark& mark, std::string_view value) {
        for (; !value.empty(); value.remove_prefix(1)) {
            if (starts_with_control(value)) {
                problems_.error(place_of(mark), "control characters are not used here");
                return;
            }
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
        if (++nodes_ > kMaxYamlNodes) {
            throw Refused{node.at, "the file has too many parts"};
        }
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
            if (node.kind == YamlNode::Kind::Null) {
                node.at = parent.key->at;  // the reader names the place of what comes next
            }
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

    const LineIndex& lines_;
    Problems& problems_;
    YamlNode root_;
    std::vector<Open> open_;
    std::optional<std::size_t> last_scalar_;
    std::size_t nodes_ = 0;
    int documents_ = 0;
};

}  // namespace

std::optional<YamlNode> read_yaml(const LineIndex& lines, Problems& problems) {
    const std::string_view text = lines.text();
    if (const std::optional<TextFault> fault = find_text_fault(text)) {
        problems.error(lines.place_at(fault->offset), std::string{fault->what});
        return std::nullopt;
    }
    try {
        std::istringstream stream{std::string{text}};
        YAML::Parser parser{stream};
        TreeBuilder builder{lines, problems};
        while (parser.HandleNextDocument(builder)) {
        }
        builder.refuse_open_quote();
        return builder.take();
    } catch (const Refused& refused) {
        problems.error(refused.at, refused.what());
    } catch (const YAML::Exception& error) {
        const std::optional<Position> tab =
            error.mark.is_null() ? std::nullopt : leading_tab(lines, place_of(error.mark));
        if (tab) {
            problems.error(*tab, "indent with spaces: YAML takes no tabs there");
            return std::nullopt;
        }
        // Behind a backslash at the very end the reader counts one place too many.
        problems.error(error.mark.is_null() ? Position{}
                                            : lines.place_at(lines.offset_of(place_of(error.mark))),
                       words_of(error));
    }
    return std::nullopt;
}

}  // namespace sluice
