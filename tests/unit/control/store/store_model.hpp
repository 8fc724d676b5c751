#pragma once
#include "lib/peer/store/store_call.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// The store's function (control/store/sl1.lua) in C++, with the same arithmetic of doubles in the
// same order: for simulations of several boxes, and to hold the function to.
class StoreModel {
public:
    // `utc_us`: of the store, which starts a partition's clock and nothing else.
    [[nodiscard]] StoreAnswerTo sync(const StoreCaller& caller, const StoreBatch& batch,
                                     std::uint64_t utc_us);
    // All is lost, as by FLUSHALL.
    void flush() { partitions_.clear(); }

private:
    struct Bucket {
        double till = 0;  // seconds
        double level = 0;
        double at = 0;
        double part = 0;
    };
    struct Window {
        double till = 0;
        double epoch = 0;
        double count = 0;
        double before = 0;
        double length = 0;
    };
    // A window that is asked about and begins with its key.
    struct KeyWindow {
        double till = 0;
        double start = 0;
        double count = 0;
    };
    struct Gauges {
        struct One {
            double ends = 0;
            double units = 0;
        };
        double till = 0;
        std::map<std::uint16_t, One> by_slot;
    };
    // What is asked about, and each unit of which counts for as long.
    struct Log {
        struct Charge {
            double at = 0;
            double units = 0;
        };
        double till = 0;
        std::vector<Charge> charges;
    };
    // Limits of any kind under one digest, after a rule has changed its kind, take its place.
    struct Key {
        std::optional<Bucket> bucket{};
        std::optional<Window> window{};
        std::optional<KeyWindow> by_key{};
        std::optional<Log> log{};
        std::optional<Gauges> gauges{};
    };
    struct Node {
        double incarnation = 0;
        double seq = 0;
        std::map<std::size_t, StoreLevel>
            not_added;  // of its last batch, by entry: its flags alone
    };
    struct Partition {
        double born = 0;
        double clock = 0;
        std::uint16_t size = 0;
        std::map<std::uint16_t, Node> nodes;
        std::map<std::pair<std::uint64_t, std::uint8_t>, Key> keys;
    };

    [[nodiscard]] static Bucket owed(const Key& key, double now, double rate);
    [[nodiscard]] static std::optional<Window> window_of(const Key& key, double now,
                                                         const StoreEntry& entry);
    [[nodiscard]] static StoreLevel charge_bucket(Key& key, double now, const StoreEntry& entry);
    [[nodiscard]] static StoreLevel charge_window(Key& key, double now, double latest,
                                                  const StoreEntry& entry);
    [[nodiscard]] static KeyWindow key_window(const Key& key, double now, const StoreEntry& entry);
    [[nodiscard]] static Log logged(const Key& key, double now, const StoreEntry& entry);
    [[nodiscard]] static double window_utc(double now, double latest);
    [[nodiscard]] static Window clock_window(const Key& key, double now, double latest,
                                             const StoreEntry& entry);
    // How an asked key stands, nothing charged.
    [[nodiscard]] static StoreLevel used(const Key& key, double now, double latest,
                                         const StoreEntry& entry);
    [[nodiscard]] static StoreLevel ask(Key& key, double now, double latest,
                                        const StoreEntry& entry);
    // The sum of those of other slots that count.
    [[nodiscard]] static StoreLevel gauges_beside(const Key& key, double now, std::uint16_t slot);
    [[nodiscard]] static StoreLevel set_gauge(Key& key, double now, std::uint16_t slot,
                                              const StoreEntry& entry);
    static void tell_again(StoreAnswerTo& answer, const Partition& partition,
                           const StoreCaller& caller, const StoreBatch& batch);
    static void apply(StoreAnswerTo& answer, Partition& partition, const StoreCaller& caller,
                      const StoreBatch& batch, double latest);

    std::map<std::uint16_t, Partition> partitions_;
};

}  // namespace sluice
