#pragma once
#include "lib/policy/clauses/clause.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// Finds the clauses that contain a given one: every packet of it is one of theirs. Each clause is
// kept under its narrowest field, so that few of them are compared.
class ClauseCover {
public:
    explicit ClauseCover(const SetPool& pool) noexcept : pool_{pool} {}

    // `clause` stays where it is. Owners come in rising order.
    void add(const Clause& clause, std::uint32_t owner);

    // The first owner below `before` with a clause that contains this one. nullopt: there is none,
    // or the budget of comparisons is used up.
    [[nodiscard]] std::optional<std::uint32_t> first_owner(const Clause& clause,
                                                           std::uint32_t before);
    // True once the budget of comparisons is used up.
    [[nodiscard]] bool is_spent() const noexcept { return looks_ >= kMaxLooks; }

private:
    // Clauses compared, at most: a tenth of a second of work.
    static constexpr std::size_t kMaxLooks = 2'000'000;
    // A set of more ranges is not listed by them.
    static constexpr std::size_t kMaxListed = 64;

    struct Kept {
        const Clause* clause = nullptr;
        std::uint32_t owner = 0;
    };
    // A range of values under which a clause is kept.
    struct Listed {
        Wide first = 0;
        Wide last = 0;
        Wide furthest = 0;  // last value of this and of all before it
        std::uint32_t kept = 0;
    };
    struct FieldLists {
        std::vector<Listed> numbers;
        std::vector<Listed> v6;
        std::vector<std::uint32_t> absent;
    };

    void list(const ClauseTerm& term, std::uint32_t kept);
    void sort();
    void look(const std::vector<Listed>& lists, Wide value, const Clause& clause);
    void look(const std::vector<std::uint32_t>& all, const Clause& clause);
    void try_one(std::uint32_t kept, const Clause& clause);

    const SetPool& pool_;
    std::vector<Kept> kept_;
    std::array<FieldLists, kFieldCount> fields_;
    std::vector<std::uint32_t> everywhere_;  // kept under no value
    bool sorted_ = true;
    std::size_t looks_ = 0;
    std::uint32_t found_ = 0;  // the best of the present question
};

// True if every value of `inner`, or its absence, is in `outer`.
[[nodiscard]] bool includes(const DomainSet& outer, const DomainSet& inner) noexcept;

}  // namespace sluice
