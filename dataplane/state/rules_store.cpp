#include "dataplane/state/rules_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/memory_room.hpp"
#include "lib/base/read_file.hpp"
#include "lib/wire/codec.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace sluice {
namespace {

// The rule set lies there as it crosses the wire, whose version is that of the file.
constexpr FileKind kRulesFile{{'S', 'L', 'R', 'U', 'L', 'E', 'S', '\n'}, kWireVersion, "rule set"};
constexpr std::size_t kMostBytesOfRules = std::size_t{kMaxMessageSize} + 4096;  // and a head

// The set that is about to be replaced, under a name of its own until the new one is there.
class Replaced {
public:
    explicit Replaced(const std::string& path) : path_{path}, name_{path + ".replaced"} {
        (void)::unlink(name_.c_str());
        held_ = ::link(path_.c_str(), name_.c_str()) == 0;
        is_first_ = !held_ && errno == ENOENT;
        if (!held_ && !is_first_) {
            log_warn("cannot keep the rule set before " + path_ + ": " + std::strerror(errno));
        }
    }
    Replaced(const Replaced&) = delete;
    Replaced& operator=(const Replaced&) = delete;
    // A rename between two names of one file leaves both.
    ~Replaced() { (void)::unlink(name_.c_str()); }

    // Keeps the set that was there as the one before, or leaves it where it lay.
    void keep_as(const std::string& before) const {
        if (held_ && ::rename(name_.c_str(), before.c_str()) != 0) {
            log_warn("cannot keep the rule set before as " + before + ": " + std::strerror(errno));
        }
    }
    void put_back() const {
        if (held_) {
            (void)::rename(name_.c_str(), path_.c_str());
        } else if (is_first_) {
            (void)::unlink(path_.c_str());
        }
    }

private:
    const std::string& path_;
    std::string name_;
    bool held_ = false;
    bool is_first_ = false;  // nothing is replaced
};

MemoryBudget room_beside(std::uint64_t kept, std::size_t workers) {
    const std::uint64_t there_are = available_memory();
    return {there_are - std::min(there_are, kept), workers};
}

}  // namespace

RulesStore::RulesStore(std::string directory)
    : directory_{std::move(directory)},
      path_{directory_ + "/ruleset.bin"},
      before_{directory_ + "/ruleset.bin.before"} {}

Result<Done> RulesStore::save(const RulesInForce& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    // A set that was put aside is no set before.
    const Replaced replaced{path_};
    Result<Done> done = replace_file(path_, with_head(kRulesFile, encode(rules)), Durable::Yes);
    if (done) {
        replaced.keep_as(before_);
    } else {
        replaced.put_back();
    }
    return done;
}

Result<std::optional<ApplyRules>> RulesStore::load(std::size_t workers,
                                                   std::uint64_t kept_room) const {
    Result<std::optional<ApplyRules>> kept = read(path_, room_beside(kept_room, workers));
    if (kept && !*kept && ::access(before_.c_str(), F_OK) == 0) {
        return Error{Errc::BadSyntax, "the saved rule set " + path_ + " is gone"};
    }
    return kept;
}

Result<std::optional<ApplyRules>> RulesStore::load_before(std::size_t workers,
                                                          std::uint64_t kept_room) const {
    return read(before_, room_beside(kept_room, workers));
}

// A file that was left where it is keeps its name.
void RulesStore::take_back() const {
    if (::link(before_.c_str(), path_.c_str()) != 0 && errno != EEXIST) {
        log_warn("cannot keep the rule set before as " + path_ + ": " + std::strerror(errno));
    }
}

Result<std::optional<ApplyRules>> RulesStore::read(const std::string& path, MemoryBudget room) {
    const auto text = read_whole_file(path, kMostBytesOfRules);
    if (!text && !is_about_content(text.error())) {
        return Error{Errc::Unreachable, "the saved rule set: " + text.error().what};
    }
    if (text && !*text) {
        return std::optional<ApplyRules>{};
    }
    const Result<ByteView> body =
        text ? body_of(kRulesFile, bytes_of(**text)) : Result<ByteView>{text.error()};
    Result<Request> request = body ? decode_request(*body, room) : Result<Request>{body.error()};
    if (!request && request.error().code == Errc::NoMemory) {
        return Error{Errc::Unreachable, "the saved rule set " + path + ": " + request.error().what};
    }
    if (request) {
        if (auto* rules = std::get_if<ApplyRules>(&*request)) {
            return std::optional{std::move(*rules)};
        }
    }
    const std::string why = request ? "another message" : request.error().what;
    return Error{Errc::BadSyntax, "the saved rule set " + path + " cannot be read (" + why + "); " +
                                      put_file_aside(path)};
}

}  // namespace sluice
