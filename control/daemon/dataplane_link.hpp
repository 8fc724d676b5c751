#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/dataplane_client.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

// The one connection to the dataplane. Calls are made one at a time, each with a timeout; a broken
// connection is dropped, and connect() is tried again by LinkKeeper.
class DataplaneLink {
public:
    static constexpr std::chrono::seconds kTimeout{3};

    // `audit_dir`: where sluiced records changes, for those who go past it.
    explicit DataplaneLink(std::string path, std::chrono::milliseconds timeout = kTimeout,
                           std::string audit_dir = "")
        : path_{std::move(path)}, timeout_{timeout}, audit_dir_{std::move(audit_dir)} {}

    // Unreachable while there is no dataplane. Only the call that finds it dead waits for it; a
    // turn is waited for no longer than an answer, and whoever had none is told Busy.
    [[nodiscard]] Result<Reply> call(const Request& request);

    // Connects anew and returns the Welcome. Other calls go on meanwhile.
    [[nodiscard]] Result<Welcome> connect();
    // True if there is a connection whose other end is alive, as far as can be seen without
    // waiting.
    [[nodiscard]] bool check();

    // Says that we are still here: a client that is silent for long is closed.
    void ping();

    struct Status {
        bool connected = false;
        std::uint32_t pid = 0;
    };
    [[nodiscard]] Status status() const;
    // How frames come to the workers of the dataplane that was connected last, and their merge
    // interval, also as changed since; before the first connection, the usual mapping.
    [[nodiscard]] RssMapping rss_mapping() const;
    // The cluster that the box is of, which rss_mapping() has from then on; before others use this.
    void set_cluster(const BoxCluster& cluster) { cluster_ = cluster; }
    // The dataplane's treatment of packets; nullopt: none was connected yet.
    [[nodiscard]] std::optional<PacketTreatment> treatment() const;

    // Vouches for the databases of sets that are sent, once there is a key; before the first call.
    // An Error is logged, and no key is there until a connection finds one: each reads it anew,
    // since a dataplane whose state was forgotten has made another.
    void share_key(const Result<DatabaseKey>& key, std::string file);
    [[nodiscard]] DatabaseSeal seal(const RuleSet& rules) const;

private:
    void set(Status status);
    void note_silence();
    [[nodiscard]] std::string why_not_connected() const;
    void renew_key();
    void take_key(const Result<DatabaseKey>& key);

    std::string path_;
    std::chrono::milliseconds timeout_;
    std::string audit_dir_;
    std::string key_file_;
    std::timed_mutex calling_;
    std::optional<DataplaneClient> client_;  // behind calling_
    mutable std::mutex seeing_;
    bool is_silent_ = false;  // there is one, that does not answer
    Status status_;           // behind seeing_, so that it can be read during a call
    RssMapping rss_mapping_ = usual_rss_mapping();  // likewise
    std::optional<PacketTreatment> treatment_;
    BoxCluster cluster_{};
    std::optional<DatabaseKey> key_;
    bool told_of_key_ = false;  // that it cannot be read: once, until it can be
};

}  // namespace sluice
