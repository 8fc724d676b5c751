#include "control/daemon/dataplane_link.hpp"

#include "lib/wire/socket.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace sluice {
namespace {

Error busy() {
    return {Errc::Busy, "the dataplane is busy with another call; try again"};
}

}  // namespace

Result<Reply> DataplaneLink::call(const Request& request) {
    const std::unique_lock lock{calling_, timeout_};
    if (!lock) {
        return busy();
    }
    if (!client_) {
        return Error{Errc::Unreachable, why_not_connected()};
    }
    Result<Reply> reply = client_->call(request);
    if (!reply && reply.error().code == Errc::Unreachable) {
        client_.reset();
        set({});
        note_silence();
    }
    if (const auto* merge = reply ? std::get_if<MergeIntervalSet>(&*reply) : nullptr) {
        const std::lock_guard seeing{seeing_};
        rss_mapping_.merge_interval = Nanoseconds{static_cast<std::int64_t>(merge->interval_ns)};
    }
    return reply;
}

Result<Welcome> DataplaneLink::connect() {
    Result<DataplaneClient> client =
        DataplaneClient::connect(path_, "sluiced " SLUICE_VERSION, timeout_, audit_dir_);
    if (!client) {
        note_silence();
        return client.error();
    }
    renew_key();
    const std::unique_lock lock{calling_, timeout_};
    if (!lock) {
        return busy();
    }
    client_.emplace(*std::move(client));
    set({true, client_->welcome().pid});
    {
        const std::lock_guard seeing{seeing_};
        rss_mapping_ = client_->welcome().rss_mapping;
        treatment_ = client_->welcome().treatment;
    }
    return client_->welcome();
}

// A process that was stopped, or hangs, still has a socket that takes connections.
void DataplaneLink::note_silence() {
    const bool listens = connect_unix(path_).has_value();
    const std::lock_guard seeing{seeing_};
    is_silent_ = listens;
}

std::string DataplaneLink::why_not_connected() const {
    const std::lock_guard seeing{seeing_};
    return is_silent_ ? "a dataplane listens at " + path_ +
                            " and does not answer: its log, or the state of its process, says why"
                      : "no dataplane is connected (" + path_ + "); start sluice-dataplane";
}

bool DataplaneLink::check() {
    const std::unique_lock lock{calling_, std::try_to_lock};
    if (!lock) {
        return true;  // a call is under way, and finds out
    }
    if (client_ && !client_->is_alive()) {
        client_.reset();
        set({});
    }
    return client_.has_value();
}

void DataplaneLink::ping() {
    (void)call(Ping{});
}

RssMapping DataplaneLink::rss_mapping() const {
    const std::lock_guard lock{seeing_};
    RssMapping mapping = rss_mapping_;
    mapping.cluster = cluster_;
    return mapping;
}

std::optional<PacketTreatment> DataplaneLink::treatment() const {
    const std::lock_guard lock{seeing_};
    return treatment_;
}

DatabaseSeal DataplaneLink::seal(const RuleSet& rules) const {
    std::unique_lock lock{seeing_};
    const std::optional<DatabaseKey> key = key_;
    lock.unlock();
    return key ? seal_of(rules, *key) : DatabaseSeal{};
}

void DataplaneLink::share_key(const Result<DatabaseKey>& key, std::string file) {
    key_file_ = std::move(file);
    take_key(key);
}

void DataplaneLink::renew_key() {
    if (!key_file_.empty()) {
        take_key(read_database_key(key_file_));
    }
}

// The key of before stays where the file cannot be read: the dataplane may have that one still.
// Without it the dataplane refuses sets with patterns, and takes all others.
void DataplaneLink::take_key(const Result<DatabaseKey>& key) {
    const std::lock_guard lock{seeing_};
    if (key) {
        key_ = *key;
        if (std::exchange(told_of_key_, false)) {
            spdlog::info("the key of databases {} can be read again", key_file_);
        }
    } else if (!std::exchange(told_of_key_, true)) {
        spdlog::error("{}; {}", key.error().what,
                      key_ ? "going on with the one of before, and reading it anew as a dataplane "
                             "connects"
                           : "the dataplane will refuse rules with patterns until it can be read "
                             "as one connects");
    }
}

DataplaneLink::Status DataplaneLink::status() const {
    const std::lock_guard lock{seeing_};
    return status_;
}

void DataplaneLink::set(Status status) {
    const std::lock_guard lock{seeing_};
    status_ = status;
}

}  // namespace sluice
