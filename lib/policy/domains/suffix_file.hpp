#pragma once
#include "lib/base/result.hpp"
#include "lib/match/public_suffixes.hpp"
#include "lib/policy/lists/list_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/scalar_places.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

// The public suffix list of this host, read when a rule first asks for a registrable domain.
class SuffixFile {
public:
    // nullptr: no file can be read.
    explicit SuffixFile(const ListReader* files) noexcept : files_{files} {}

    // The suffixes of the list; nullptr: there is none that can be read.
    [[nodiscard]] const PublicSuffixes* suffixes();
    [[nodiscard]] std::shared_ptr<const std::vector<SuffixRule>> rules();
    // Reports a list that cannot be read, where a rule needs it: a file that is missing is a
    // warning unless the context is strict, one that is no list is an error.
    void report(Position at, const ReadContext& context);

private:
    void read();

    const ListReader* files_;
    std::optional<Result<Done>> outcome_;  // nullopt: nobody has asked
    std::shared_ptr<const std::vector<SuffixRule>> rules_;
    std::optional<PublicSuffixes> suffixes_;
};

// Reports it at each of these places in an expression.
void report_domains(const std::vector<std::size_t>& offsets, const ScalarPlaces& places,
                    const ReadContext& context);

}  // namespace sluice
