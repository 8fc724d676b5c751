#pragma once
#include "lib/match/bit_plane.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/match/dense_planes.hpp"
#include "lib/match/found_rules.hpp"
#include "lib/match/open_blocks.hpp"
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// Leads from the rows of a burst's packets to the clauses that these satisfy: the AND of the
// planes, of which only the words that may be other than zero are read. Step by step over the whole
// burst, with hardly a branch, because what a packet satisfies is unpredictable; the loads of one
// packet overlap with the work of the others.
class ClausePlanes {
public:
    using Rows = DensePlanes::Rows;

    ClausePlanes() = default;
    // The parts are sound.
    explicit ClausePlanes(const ClassifierParts& parts);

    [[nodiscard]] std::span<const BitPlane> planes() const noexcept { return planes_; }

    // The working memory of a search for the packets of one burst.
    struct Search {
        // Only as many entries as are read are written.
        Rows rows;
        std::size_t packets = 0;
        OpenBlocks open;  // list_open() fills it

        // By word of the summary and plane.
        using RowWords = std::array<std::array<const std::uint32_t*, kMaxBurst>, kFieldCount>;
        std::array<RowWords, kMaxSummary> row_words;
    };
    void list_open(Search& search) const noexcept;
    // Adds the rules of all clauses that are satisfied. There is a plane. Lists what is open
    // itself, if it has to.
    void find(Search& search, const std::uint32_t* rule_of,
              FoundRules::Adder& found) const noexcept;
    // The satisfied clauses of one of the open blocks.
    [[nodiscard]] Block satisfied(const Search& search, OpenBlocks::Open open) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept;

    // The most rows of a plane that two others are multiplied out to, for so many blocks.
    [[nodiscard]] static std::size_t most_joined_rows(std::size_t blocks) noexcept;

private:
    // How one block uses one plane.
    struct Question {
        std::uint64_t before = 0;  // the blocks before it that use it too
        std::uint32_t asks = 0;    // all bits or none
        BlockReference otherwise;  // of a block that does not use it: all its clauses
    };
    // Some of the open blocks, and where they may be anything but zero.
    struct Narrowed;

    // kPlanes: how many there are; 0: more than there is code for, or none.
    template <std::size_t kPlanes>
    void narrow(const Search& search, std::span<const OpenBlocks::Open> open,
                Narrowed& narrowed) const noexcept;
    template <std::size_t kPlanes>
    void find_in(const Narrowed& narrowed, std::span<const OpenBlocks::Open> open,
                 const std::uint32_t* rule_of, FoundRules::Adder& found) const noexcept;
    template <std::size_t kPlanes>
    void find_open(const Search& search, const std::uint32_t* rule_of,
                   FoundRules::Adder& found) const noexcept;

    void list_planes(const ClassifierParts& parts, BlockPool& pool);
    void list_questions(BlockPool& pool);

    std::size_t clauses_ = 0;
    std::size_t summary_ = 0;                      // words of one bit per block
    std::vector<std::uint64_t> blocks_there_are_;  // by word of the summary
    std::vector<BitPlane> planes_;
    std::vector<Question> questions_;  // by block, by plane
    std::vector<Block> blocks_;        // that the planes refer to
    DensePlanes dense_;                // when there are few clauses
};

}  // namespace sluice
