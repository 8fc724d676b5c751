#include "lib/wire/spread_codec.hpp"

namespace sluice {
namespace {

void put_port_spread(Writer& out, const PortSpread& port) {
    out.text(port.pair);
    out.word(port.dir);
    out.word(port.by);
    out.word(port.rss);
    out.number(port.way);
}

// A word as it must be: the last one of its enum, or one before it.
template <typename E>
E word_up_to(Reader& in, E last) {
    const auto value = in.number<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) {
        in.fail();
        return E{};
    }
    return static_cast<E>(value);
}

PortSpread get_port_spread(Reader& in) {
    PortSpread port;
    port.pair = in.text();
    port.dir = word_up_to(in, Direction::Out);
    port.by = word_up_to(in, PortSpread::By::Unknown);
    port.rss = word_up_to(in, Rss::SourcePrefix);
    port.way = in.number<std::uint64_t>();
    return port;
}

}  // namespace

void put_spread(Writer& out, const BoxSpread& spread) {
    out.list(spread.ports, put_port_spread);
    out.number<std::uint8_t>(spread.tunnels ? 1 : 0);
    out.number(static_cast<std::uint32_t>(spread.workers));
    out.number<std::int64_t>(spread.merge_interval.count());
}

BoxSpread get_spread(Reader& in) {
    constexpr std::size_t kPortSize = 15;
    BoxSpread spread;
    spread.ports = in.list<PortSpread>(kPortSize, get_port_spread);
    spread.tunnels = in.flag();
    spread.workers = in.number<std::uint32_t>();
    spread.merge_interval = Nanoseconds{in.number<std::int64_t>()};
    return spread;
}

}  // namespace sluice
