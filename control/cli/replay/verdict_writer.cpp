#include "control/cli/replay/verdict_writer.hpp"

#include "lib/rules/group.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace sluice {
namespace {

// Shaped packets wait so long for their departure. A refusing limit always has a wait, so a drop
// without one is a drop that no limit refused.
std::string wait_text(const Decision& decision) {
    if (forwards(decision.verdict) && decision.verdict != Verdict::Shape) {
        return "0";
    }
    if (decision.wait == Nanoseconds{0}) {
        return "";
    }
    return decision.wait == kNever ? "never" : std::to_string(decision.wait.count());
}

}  // namespace

std::string verdict_line(std::uint64_t number, const BurstRow& packet, const LoadedSet& rules,
                         std::string_view pair) {
    const Decision& decision = packet.decision();
    std::string_view id;
    std::string key;
    if (decision.rule != kNoRule) {
        const LoadedRule& rule = rules.rules[decision.rule];
        id = rule.id;
        if (!rule.keys.empty()) {
            key = key_text(rule.keys[decision.key], packet.deciding_headers(), packet.frame().bytes,
                           pair);
        }
    }
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", number, name_of(decision.verdict),
                       row_of(decision.reason).name, id, key, wait_text(decision));
}

Result<VerdictWriter> VerdictWriter::create(const std::string& path) {
    File file{std::fopen(path.c_str(), "wb")};
    if (!file) {
        return Error{Errc::Unreachable,
                     "cannot write " + path + ": " + std::generic_category().message(errno)};
    }
    return VerdictWriter{std::move(file), path};
}

void VerdictWriter::write(std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), file_.get());
}

Result<Done> VerdictWriter::finish() {
    const bool whole = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
    if (!whole) {
        return Error{Errc::Unreachable,
                     "cannot write " + path_ + ": " + std::generic_category().message(errno)};
    }
    return Done{};
}

}  // namespace sluice
