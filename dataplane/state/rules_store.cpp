#include "dataplane/state/rules_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"
#include "lib/wire/codec.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace sluice {
namespace {

// As it crosses the wire, whose version is that of the file.
constexpr FileKind kRulesFile{{'S', 'L', 'R', 'U', 'L', 'E', 'S', '\n'}, kWireVersion, "rule set"};

// Both names are the same file's until one of them is given to another.
bool give_name(const std::string& from, const std::string& to) {
    const std::string temporary = to + ".link";
    (void)::unlink(temporary.c_str());
    const bool done = ::link(from.c_str(), temporary.c_str()) == 0 &&
                      ::rename(temporary.c_str(), to.c_str()) == 0;
    const int why = errno;
    (void)::unlink(temporary.c_str());
    errno = why;
    return done;
}

}  // namespace

RulesStore::RulesStore(std::string directory)
    : directory_{std::move(directory)},
      path_{directory_ + "/ruleset.bin"},
      before_{directory_ + "/ruleset.bin.before"} {}

// A set that was put aside is no set before.
void RulesStore::keep_before() const {
    if (!give_name(path_, before_) && errno != ENOENT) {
        log_warn("cannot keep the rule set before as " + before_ + ": " + std::strerror(errno));
    }
}

Result<Done> RulesStore::save(const RulesInForce& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    keep_before();
    return replace_file(path_, with_head(kRulesFile, encode(rules)), Durable::Yes);
}

Result<std::optional<ApplyRules>> RulesStore::load() const {
    Result<std::optional<ApplyRules>> kept = read(path_);
    if (kept && !*kept && ::access(before_.c_str(), F_OK) == 0) {
        return Error{Errc::Unreachable, "the saved rule set " + path_ + " is gone"};
    }
    return kept;
}

Result<std::optional<ApplyRules>> RulesStore::take_back() const {
    Result<std::optional<ApplyRules>> before = read(before_);
    if (before && *before && !give_name(before_, path_)) {
        log_warn("cannot keep the rule set before as " + path_ + ": " + std::strerror(errno));
    }
    return before;
}

std::string RulesStore::put_aside() const {
    return put_file_aside(path_);
}

Result<std::optional<ApplyRules>> RulesStore::read(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) {
        return std::optional<ApplyRules>{};
    }
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    const Result<ByteView> body = body_of(kRulesFile, bytes_of(text));
    Result<Request> request = body ? decode_request(*body) : Result<Request>{body.error()};
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
