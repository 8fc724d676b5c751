#include "lib/l7/http1/forwarded_client.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace sluice;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// The entry at `hops` from the right, by a slow way of its own.
std::string entry_of(std::string_view list, std::size_t hops) {
    std::vector<std::string> entries(1);
    for (const char character : list) {
        if (character == ',') {
            entries.emplace_back();
        } else {
            entries.back() += character;
        }
    }
    return hops == 0 || hops > entries.size() ? "" : entries[entries.size() - hops];
}

}  // namespace

// How many proxies are one's own, and the list.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::size_t hops = size == 0 ? 0 : data[0] % 33U;
    const std::vector<char> list(data + std::min<std::size_t>(size, 1), data + size);
    const std::string_view text{list.data(), list.size()};
    const auto client = forwarded_client(bytes_of(text), hops);
    const std::string entry = entry_of(text, hops);
    // What stands around an entry does not change whom it names.
    const auto alone = forwarded_client(bytes_of(entry), 1);
    require(client.has_value() == alone.has_value());
    if (client) {
        require(client->version == alone->version && client->address == alone->address);
        // An address names itself again, alone and as somebody else's list continues.
        const std::string written = to_text(client->version, client->address);
        const std::string longer = entry + " , " + written + "\t";
        for (const std::string& again : {written, longer}) {
            const auto same = forwarded_client(bytes_of(again), 1);
            require(same && same->version == client->version && same->address == client->address);
        }
        const auto behind = forwarded_client(bytes_of(longer), 2);
        require(behind && behind->address == client->address);
    }
    return 0;
}
