#include "control/daemon/store.hpp"

#include "control/text_file.hpp"
#include "lib/wire/fd.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kLargest = 256U << 20;  // the largest rule file, every byte of it escaped

Error failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, what + " " + path + ": " + std::strerror(errno)};
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0;
}

// A flipped bit in the text may well compile: FNV-1a tells.
std::string sum_of(std::string_view text) {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
    }
    return fmt::format("{:016x}", hash);
}

json modes_json(const ModeOverrides& modes) {
    json object = json::object();
    for (const auto& [id, mode] : modes) {
        object[id] = kModeNames[static_cast<std::size_t>(mode)];
    }
    return object;
}

ModeOverrides modes_of(const json& object) {
    ModeOverrides modes;
    for (const auto& [id, word] : object.items()) {
        const std::string name = word.is_string() ? word.get<std::string>() : std::string{};
        const auto found = std::find(kModeNames.begin(), kModeNames.end(), name);
        if (found != kModeNames.end()) {
            modes[id] = static_cast<Mode>(found - kModeNames.begin());
        }
    }
    return modes;
}

StoredRules rules_of(const json& document) {
    if (document.at("version") != kVersion) {
        throw std::runtime_error("it is of another version");
    }
    StoredRules rules{.file = document.at("file"),
                      .text = document.at("text"),
                      .modes = modes_of(document.at("modes")),
                      .generation = document.at("generation"),
                      .changed_at = document.at("changed_at"),
                      .changed_by = document.at("changed_by")};
    if (document.at("sum") != sum_of(rules.text)) {
        throw std::runtime_error("its checksum is another");
    }
    return rules;
}

}  // namespace

std::string modes_to_json(const ModeOverrides& modes) {
    return modes_json(modes).dump();
}

ModeOverrides modes_from_json(const std::string& text) {
    const json object = json::parse(text, nullptr, false);
    return object.is_object() ? modes_of(object) : ModeOverrides{};
}

PendingRules::PendingRules(std::string from, std::string into)
    : from_{std::move(from)}, into_{std::move(into)} {}

PendingRules::PendingRules(PendingRules&& other) noexcept
    : from_{std::exchange(other.from_, {})}, into_{std::move(other.into_)} {}

PendingRules::~PendingRules() {
    if (!from_.empty()) {
        (void)::unlink(from_.c_str());
    }
}

Result<Done> PendingRules::commit() {
    if (::rename(from_.c_str(), into_.c_str()) != 0) {
        return failed("cannot replace", into_);
    }
    from_.clear();
    const std::string directory = std::filesystem::path{into_}.parent_path().string();
    const Fd folder{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.is_open() || ::fsync(folder.get()) != 0) {
        return failed("cannot make durable", directory);
    }
    return Done{};
}

Store::Store(std::string directory)
    : directory_{std::move(directory)}, path_{directory_ + "/rules.json"} {}

Result<PendingRules> Store::prepare(const StoredRules& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    const json document{{"version", kVersion},
                        {"file", rules.file},
                        {"generation", rules.generation},
                        {"changed_at", rules.changed_at},
                        {"changed_by", rules.changed_by},
                        {"modes", modes_json(rules.modes)},
                        {"text", rules.text},
                        {"sum", sum_of(rules.text)}};
    PendingRules pending{path_ + ".new", path_};
    const std::string temporary = path_ + ".new";
    const Fd file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    const std::string text = document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
    if (!file.is_open() || !write_all(file.get(), text)) {
        return failed("cannot write", temporary);
    }
    return pending;
}

Result<std::optional<StoredRules>> Store::load() const {
    std::error_code error;
    if (std::filesystem::status(path_, error).type() == std::filesystem::file_type::not_found) {
        return std::optional<StoredRules>{};
    }
    const Result<std::string> text = read_text_file(path_, kLargest);
    if (!text) {
        return put_aside(text.error().what);
    }
    try {
        return std::optional{rules_of(json::parse(*text))};
    } catch (const std::exception& reason) {
        return put_aside(reason.what());
    }
}

Error Store::put_aside(const std::string& why) const {
    const std::string aside = path_ + ".bad-" + std::to_string(::time(nullptr));
    const bool kept = ::rename(path_.c_str(), aside.c_str()) == 0;
    return {Errc::BadSyntax, "the stored rules " + path_ + " cannot be read (" + why + ")" +
                                 (kept ? "; they are kept as " + aside : "")};
}

}  // namespace sluice
