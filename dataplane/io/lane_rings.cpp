#include "dataplane/io/lane_rings.hpp"

#include <algorithm>

namespace sluice {
namespace {

class Connector {
public:
    explicit Connector(const std::vector<std::vector<Lane>>& lanes) : lanes_{lanes} {
        for (const std::vector<Lane>& of_worker : lanes) {
            made_.ends.emplace_back(of_worker.size());
        }
    }

    LaneRings run() {
        for (std::size_t worker = 0; worker < lanes_.size(); ++worker) {
            for (std::size_t i = 0; i < lanes_[worker].size(); ++i) {
                const Lane& lane = lanes_[worker][i];
                if (lane.handed && lane.owns) {
                    give_to_all(worker, i, &LaneEnds::rss_mapping);
                }
                if (!lane.for_owner_only() && lanes_.size() > 1) {
                    give_to_all(worker, i, &LaneEnds::owned);
                }
                if (!lane.owns) {
                    send_back(worker, i);
                }
            }
        }
        return std::move(made_);
    }

private:
    FrameRing* ring() {
        // Pages of rings that no rules need are never touched.
        made_.rings.push_back(std::make_unique_for_overwrite<FrameRing>());
        return made_.rings.back().get();
    }

    // The lane of another worker with the frames of the same port. Of several (it owns queues
    // too), the first will do.
    [[nodiscard]] std::size_t same_way(const Lane& lane, std::size_t worker) const {
        const std::vector<Lane>& others = lanes_[worker];
        const auto found = std::find_if(others.begin(), others.end(), [&](const Lane& other) {
            return other.rx_port == lane.rx_port;
        });
        return static_cast<std::size_t>(found - others.begin());
    }

    void give_to_all(std::size_t from, std::size_t lane, HandoverEnds LaneEnds::* which) {
        std::vector<FrameRing*>& to = (made_.ends[from][lane].*which).to;
        to.resize(lanes_.size());
        for (std::size_t worker = 0; worker < lanes_.size(); ++worker) {
            if (worker != from) {
                to[worker] = ring();
                const std::size_t theirs = same_way(lanes_[from][lane], worker);
                (made_.ends[worker][theirs].*which).from.push_back(to[worker]);
            }
        }
    }

    void send_back(std::size_t from, std::size_t lane) {
        const Lane& mine = lanes_[from][lane];
        const std::vector<Lane>& senders = lanes_[mine.sender];
        const auto owned = std::find_if(senders.begin(), senders.end(), [&](const Lane& other) {
            return other.owns && other.tx_port == mine.tx_port && other.tx_queue == mine.tx_queue;
        });
        FrameRing* const back = ring();
        made_.ends[from][lane].back = back;
        made_.backs.push_back({.from = from,
                               .sender = mine.sender,
                               .lane = static_cast<std::size_t>(owned - senders.begin()),
                               .ring = back});
    }

    const std::vector<std::vector<Lane>>& lanes_;
    LaneRings made_;
};

}  // namespace

LaneRings connect_lanes(const std::vector<std::vector<Lane>>& lanes) {
    return Connector{lanes}.run();
}

}  // namespace sluice
