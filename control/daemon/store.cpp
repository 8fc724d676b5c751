#include "control/daemon/store.hpp"

#include "lib/wire/fd.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

using nlohmann::json;

Error failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, what + " " + path + ": " + std::strerror(errno)};
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0;
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
        const auto found = std::find(kModeNames.begin(), kModeNames.end(), word.get<std::string>());
        if (found != kModeNames.end()) {
            modes[id] = static_cast<Mode>(found - kModeNames.begin());
        }
    }
    return modes;
}

}  // namespace

std::string modes_to_json(const ModeOverrides& modes) {
    return modes_json(modes).dump();
}

ModeOverrides modes_from_json(const std::string& text) {
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) {
        return {};
    }
    ModeOverrides modes;
    for (const auto& [id, word] : object.items()) {
        if (word.is_string()) {
            modes.merge(modes_of(json{{id, word}}));
        }
    }
    return modes;
}

Store::Store(std::string directory)
    : directory_{std::move(directory)}, path_{directory_ + "/rules.json"} {}

Result<Done> Store::save(const StoredRules& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    const json document{{"version", 1},
                        {"file", rules.file},
                        {"generation", rules.generation},
                        {"modes", modes_json(rules.modes)},
                        {"text", rules.text}};
    const std::string temporary = path_ + ".new";
    {
        const Fd file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
        const std::string text =
            document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
        if (!file.is_open() || !write_all(file.get(), text)) {
            return failed("cannot write", temporary);
        }
    }
    if (::rename(temporary.c_str(), path_.c_str()) != 0) {
        return failed("cannot replace", path_);
    }
    const Fd directory{::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory.is_open() || ::fsync(directory.get()) != 0) {
        return failed("cannot make durable", directory_);
    }
    return Done{};
}

Result<std::optional<StoredRules>> Store::load() const {
    std::ifstream file{path_, std::ios::binary};
    if (!file) {
        return std::optional<StoredRules>{};
    }
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    try {
        const json document = json::parse(text);
        if (document.at("version") != 1) {
            throw std::runtime_error("another version");
        }
        return std::optional{StoredRules{document.at("file"), document.at("text"),
                                         modes_of(document.at("modes")),
                                         document.at("generation")}};
    } catch (const std::exception& error) {
        const std::string aside = path_ + ".bad-" + std::to_string(::time(nullptr));
        (void)::rename(path_.c_str(), aside.c_str());
        return Error{Errc::BadSyntax, "the stored rules " + path_ + " cannot be read (" +
                                          error.what() + "); they are kept as " + aside};
    }
}

}  // namespace sluice
