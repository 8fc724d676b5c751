#pragma once
#include "lib/l7/stream/unit_options.hpp"
#include "lib/wire/archive.hpp"

// Fields of what a box makes of connections, fragments and later layers.
namespace sluice {

void serialize(auto& archive, Of<ConnectionOptions> auto& m) {
    archive(m.max, m.head_bytes, m.timeout);
    archive.word(m.when_full, FullConnections::Drop);
}
void serialize(auto& archive, Of<FragmentOptions> auto& m) {
    archive.word(m.policy, FragmentPolicy::Judge);
    archive(m.table, m.timeout);
}
void serialize(auto& archive, Of<UnitOptions> auto& m) {
    archive(m.connections, m.fragments);
    archive.word(m.on_ambiguous, OnAmbiguous::Both);
    archive(m.quic_initials_percent);
}

}  // namespace sluice
