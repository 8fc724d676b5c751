#pragma once
#include "lib/match/public_suffixes.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/packet/text_name.hpp"

#include <memory>
#include <vector>

namespace sluice {

// Texts that functions make of a unit's: path_prefix(), registrable_domain(). Each is a part of its
// source and takes no room of its own.
class DerivedTexts {
public:
    DerivedTexts() = default;
    // The derived ones of these texts of a rule set. Without suffixes there are no registrable
    // domains.
    DerivedTexts(TextFieldSet read, const TextNames& names,
                 std::shared_ptr<const PublicSuffixes> suffixes);

    [[nodiscard]] bool empty() const noexcept { return texts_.empty(); }
    [[nodiscard]] TextFieldSet fields() const noexcept { return fields_; }
    // Gives a unit the derived texts whose sources it has.
    void derive(UnitTexts& unit) const noexcept;

private:
    struct Derived {
        TextField field{};
        TextField source{};
        std::uint8_t segments = 0;  // 0: a registrable domain
    };
    [[nodiscard]] ByteView part_of(ByteView source, const Derived& derived) const noexcept;

    std::vector<Derived> texts_;
    TextFieldSet fields_;
    std::shared_ptr<const PublicSuffixes> suffixes_;
};

}  // namespace sluice
