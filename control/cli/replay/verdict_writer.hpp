#pragma once
#include "lib/base/result.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace sluice {

// One frame's line of `replay --verdicts`, with its line break: frame number, verdict, reason, rule
// that made the verdict, its key (of tiers, that of the one that refused), wait in ns.
[[nodiscard]] std::string verdict_line(std::uint64_t number, const BurstRow& packet,
                                       const LoadedSet& rules, std::string_view pair);

// The file of these lines.
class VerdictWriter {
public:
    [[nodiscard]] static Result<VerdictWriter> create(const std::string& path);
    void write(std::string_view line);
    // Ends the file; an Error says that not all of it could be written.
    [[nodiscard]] Result<Done> finish();

private:
    struct Close {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    using File = std::unique_ptr<std::FILE, Close>;
    VerdictWriter(File file, std::string path) noexcept
        : file_{std::move(file)}, path_{std::move(path)} {}

    File file_;
    std::string path_;
};

}  // namespace sluice
