#include "control/daemon/dataplane_link.hpp"

namespace sluice {
namespace {

Error busy() {
    return {Errc::Unreachable, "the dataplane is busy with another call; try again"};
}

}  // namespace

Result<Reply> DataplaneLink::call(const Request& request) {
    const std::unique_lock lock{calling_, timeout_};
    if (!lock) {
        return busy();
    }
    if (!client_) {
        return Error{Errc::Unreachable,
                     "no dataplane is connected (" + path_ + "); start sluice-dataplane"};
    }
    Result<Reply> reply = client_->call(request);
    if (!reply && reply.error().code == Errc::Unreachable) {
        client_.reset();
        set({});
    }
    if (const auto* merge = reply ? std::get_if<MergeIntervalSet>(&*reply) : nullptr) {
        const std::lock_guard seeing{seeing_};
        spread_.merge_interval = Nanoseconds{static_cast<std::int64_t>(merge->interval_ns)};
    }
    return reply;
}

Result<Welcome> DataplaneLink::connect() {
    Result<DataplaneClient> client =
        DataplaneClient::connect(path_, "sluiced " SLUICE_VERSION, timeout_, audit_dir_);
    if (!client) {
        return client.error();
    }
    const std::unique_lock lock{calling_, timeout_};
    if (!lock) {
        return busy();
    }
    client_.emplace(*std::move(client));
    set({true, client_->welcome().pid});
    {
        const std::lock_guard seeing{seeing_};
        spread_ = client_->welcome().rss_mapping;
        treatment_ = client_->welcome().treatment;
    }
    return client_->welcome();
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
    return spread_;
}

std::optional<PacketTreatment> DataplaneLink::treatment() const {
    const std::lock_guard lock{seeing_};
    return treatment_;
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
