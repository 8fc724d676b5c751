#include "control/fleet/fleet_records.hpp"
#include "control/fleet/set_archive.hpp"
#include "tests/fuzz/input.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Any value as the records and sets that boxes read from etcd: what is read spells itself again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    using test::require;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const Result<Head> head = head_from(text)) {
        const Result<Head> again = head_from(text_of(*head));
        require(again && again->now == head->now && again->before == head->before);
    }
    if (const Result<Rollout> rollout = rollout_from(text)) {
        require(!rollout->id.empty() && rollout->next.generation != 0);
    }
    if (const Result<NodeRecord> node = node_from(text)) {
        require(!node->node.empty());
    }
    (void)cluster_from(text);
    (void)panic_from(text);
    if (const Result<SetArchive> set = archive_from(text)) {
        require(set->files.text.size() <= size);
    }
    return 0;
}
