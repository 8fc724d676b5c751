#include "dataplane/state/rules_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/wire/codec.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sluice {
namespace {

// As it crosses the wire, whose version is that of the file.
constexpr FileKind kRulesFile{{'S', 'L', 'R', 'U', 'L', 'E', 'S', '\n'}, kWireVersion, "rule set"};

}  // namespace

RulesStore::RulesStore(std::string directory)
    : directory_{std::move(directory)}, path_{directory_ + "/ruleset.bin"} {}

Result<Done> RulesStore::save(const RulesInForce& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    return replace_file(path_, with_head(kRulesFile, encode(rules)), Durable::Yes);
}

Result<std::optional<ApplyRules>> RulesStore::load() const {
    std::ifstream file{path_, std::ios::binary};
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
    return Error{Errc::BadSyntax, "the saved rule set " + path_ + " cannot be read (" +
                                      (request ? "another message" : request.error().what) + "); " +
                                      put_file_aside(path_)};
}

}  // namespace sluice
