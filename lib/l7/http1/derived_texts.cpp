#include "lib/l7/http1/derived_texts.hpp"

#include "lib/l7/http1/path.hpp"

#include <string_view>
#include <utility>

namespace sluice {

DerivedTexts::DerivedTexts(TextFieldSet read, const TextNames& names,
                           std::shared_ptr<const PublicSuffixes> suffixes)
    : suffixes_{std::move(suffixes)} {
    for (const TextField field : kAllTextFields) {
        const TextName* name = read.has(field) ? find_derived(field, names) : nullptr;
        if (name != nullptr && (name->segments != 0 || suffixes_ != nullptr)) {
            texts_.push_back({field, name->source, name->segments});
            fields_.add(field);
        }
    }
}

ByteView DerivedTexts::part_of(ByteView source, const Derived& derived) const noexcept {
    if (derived.segments != 0) {
        return path_prefix(source, derived.segments);
    }
    const std::string_view host{reinterpret_cast<const char*>(source.data()), source.size()};
    return bytes_of(suffixes_->registrable_domain(host));
}

void DerivedTexts::derive(UnitTexts& unit) const noexcept {
    for (const Derived& derived : texts_) {
        if (unit.has(derived.source)) {
            unit.set(derived.field, part_of(unit.text(derived.source), derived));
        }
    }
}

}  // namespace sluice
