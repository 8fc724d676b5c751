#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/l7/stream/unit_kind.hpp"
#include "lib/packet/frame_columns.hpp"
#include "lib/packet/header_columns.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/text_field.hpp"

#include <cstdint>

namespace sluice {

// One well-formed packet as a parser of a later layer reads it, and what it is read for.
struct UnitSource {
    const PacketHeaders& headers;
    FrameView frame;
    std::uint64_t note = 0;        // what the parser's Select has noted of the packet; 0: nothing
    TextFieldSet wanted;           // the texts that rules read: others need not be found
    PerSet counted;                // the units that they count
    const RequestTexts& requests;  // the headers and cookies that they read
    const KeyHasher& hash;
    Instant now;
    bool answers = false;  // some rule answers requests
    ServicePacket service;
    // Signs of packets that the parser was not shown, where either is another than before: the
    // number of the rule set, and how many bursts were forwarded unread.
    std::uint64_t load = 0;
    std::uint64_t unread_bursts = 0;
};

// A burst that a parser of later layers is about to read, and what it will be read for.
struct UnitColumns {
    const HeaderColumns& headers;
    const FrameColumns& frames;
    const RowEnds& ends;  // of rows of TCP, once they are selected from
    TextFieldSet wanted;
    PerSet counted;
    const KeyHasher& hash;
    Instant now;
    const ServiceRowsOutcome* services = nullptr;  // nullptr: there are none
};

}  // namespace sluice
