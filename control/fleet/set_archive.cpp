#include "control/fleet/set_archive.hpp"

#include "control/hex_text.hpp"
#include "lib/l7/crypto/sha256.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <utility>

namespace sluice {
namespace {

using nlohmann::json;

constexpr std::size_t kMostNames = 1U << 20;  // bytes of the first line
constexpr std::size_t kMostPathBytes = 4096;
constexpr std::size_t kMostSetParts = 4096;

Error no_set(const char* what) {
    return {Errc::BadSyntax, std::string{"the set that etcd has cannot be read: "} + what};
}

// nullopt: it is none.
std::optional<std::string> text_in(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) {
        return std::nullopt;
    }
    const std::string& text = found->get_ref<const std::string&>();
    return text.size() <= kMostPathBytes && text.find('\0') == std::string::npos
               ? std::optional{text}
               : std::nullopt;
}
std::optional<std::size_t> size_in(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number_unsigned()
               ? std::optional{found->get<std::size_t>()}
               : std::nullopt;
}

// The parts behind the first line, one after the other.
class Parts {
public:
    explicit Parts(std::string_view left) : left_{left} {}

    std::optional<std::string_view> take(std::optional<std::size_t> size) {
        if (!size || *size > left_.size()) {
            return std::nullopt;
        }
        const std::string_view part = left_.substr(0, *size);
        left_.remove_prefix(*size);
        return part;
    }
    [[nodiscard]] bool is_empty() const noexcept { return left_.empty(); }

private:
    std::string_view left_;
};

bool read_files(const json& names, Parts& parts, RuleFiles& files) {
    for (const json& name : names) {
        if (!name.is_object()) {
            return false;
        }
        const auto file = text_in(name, "name");
        const auto folder = text_in(name, "folder");
        const auto text = parts.take(size_in(name, "size"));
        if (!file || !folder || !text) {
            return false;
        }
        files.text.append(*text);
        files.slices.push_back({*file, *folder, text->size()});
    }
    if (files.slices.empty()) {
        return false;
    }
    files.folder = files.slices.front().folder;
    if (files.slices.size() == 1) {
        files.slices.clear();
    }
    return true;
}

bool read_lists(const json& names, Parts& parts, SetArchive& set) {
    for (const json& name : names) {
        const auto path = name.is_object() ? text_in(name, "path") : std::nullopt;
        const auto text = path ? parts.take(size_in(name, "size")) : std::nullopt;
        if (!text || !set.lists.emplace(*path, std::make_shared<const std::string>(*text)).second) {
            return false;
        }
    }
    return true;
}

std::string sum_text(std::string_view bytes) {
    return hex_text(sha256(std::as_bytes(std::span{bytes})));
}

}  // namespace

std::string bytes_of(const SetArchive& set) {
    json files = json::array();
    for (const FileSlice& slice : set.files.slices) {
        files.push_back({{"name", slice.name}, {"folder", slice.folder}, {"size", slice.size}});
    }
    if (files.empty()) {
        files.push_back({{"name", set.files.label},
                         {"folder", set.files.folder},
                         {"size", set.files.text.size()}});
    }
    json lists = json::array();
    for (const auto& [path, text] : set.lists) {
        lists.push_back({{"path", path}, {"size", text->size()}});
    }
    std::string bytes = json{{"label", set.files.label}, {"files", files}, {"lists", lists}}.dump(
                            -1, ' ', false, json::error_handler_t::replace) +
                        "\n" + set.files.text;
    for (const auto& [path, text] : set.lists) {
        bytes += *text;
    }
    return bytes;
}

Result<SetArchive> archive_from(std::string_view bytes) {
    const std::size_t line = bytes.substr(0, kMostNames).find('\n');
    if (line == std::string_view::npos) {
        return no_set("no names");
    }
    const json names = json::parse(bytes.substr(0, line), nullptr, false);
    if (!names.is_object()) {
        return no_set("no names");
    }
    const auto label = text_in(names, "label");
    const auto files = names.find("files");
    const auto lists = names.find("lists");
    const bool has_parts = files != names.end() && files->is_array() && lists != names.end() &&
                           lists->is_array() && files->size() <= kMostSetParts &&
                           lists->size() <= kMostSetParts;
    if (!label || !has_parts) {
        return no_set("no names of its files");
    }
    SetArchive set;
    set.files.label = *label;
    Parts parts{bytes.substr(line + 1)};
    if (!read_files(*files, parts, set.files) || !read_lists(*lists, parts, set)) {
        return no_set("its files are not as it says");
    }
    return parts.is_empty() ? Result<SetArchive>{std::move(set)} : no_set("more than its files");
}

SetName name_of_set(std::string_view bytes) {
    return {sum_text(bytes), bytes.size()};
}

std::string sum_of_text(std::string_view text) {
    return sum_text(text);
}

}  // namespace sluice
