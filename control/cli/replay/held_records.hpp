#pragma once
#include "lib/base/units.hpp"
#include "lib/capture/frame.hpp"
#include "lib/capture/writer.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace sluice {

// Frames of a replay that depart later, in the order of their departures; of one instant as they
// came. At most what the capture holds.
class HeldRecords {
public:
    void hold(const CapturedFrame& frame, Instant departure) {
        Record& record =
            records_
                .emplace(departure, Record{frame, std::vector<std::byte>(frame.bytes.begin(),
                                                                         frame.bytes.end())})
                ->second;
        record.frame.timestamp = departure;
        record.frame.bytes = record.bytes;
    }
    // Writes those whose departure has come.
    void release(Instant now, CaptureWriter& out) {
        while (!records_.empty() && records_.begin()->first <= now) {
            out.write(records_.begin()->second.frame);
            records_.erase(records_.begin());
        }
    }

private:
    struct Record {
        CapturedFrame frame;
        std::vector<std::byte> bytes;
    };
    std::multimap<Instant, Record> records_;
};

}  // namespace sluice
