#include "control/daemon/dataplane_link.hpp"

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kTimeout{3000};

}  // namespace

Result<Reply> DataplaneLink::call(const Request& request) {
    const std::lock_guard lock{mutex_};
    if (!client_) {
        return Error{Errc::Unreachable,
                     "no dataplane is connected (" + path_ + "); start sluice-dataplane"};
    }
    Result<Reply> reply = client_->call(request);
    if (!reply && reply.error().code == Errc::Unreachable) {
        client_.reset();
    }
    return reply;
}

Result<Welcome> DataplaneLink::connect() {
    const std::lock_guard lock{mutex_};
    client_.reset();
    Result<DataplaneClient> client =
        DataplaneClient::connect(path_, "sluiced " SLUICE_VERSION, kTimeout);
    if (!client) {
        return client.error();
    }
    client_.emplace(*std::move(client));
    return client_->welcome();
}

bool DataplaneLink::check() {
    const std::lock_guard lock{mutex_};
    if (client_ && !client_->is_alive()) {
        client_.reset();
    }
    return client_.has_value();
}

DataplaneLink::Status DataplaneLink::status() {
    const std::lock_guard lock{mutex_};
    return {client_.has_value(), client_ ? client_->welcome().pid : 0};
}

}  // namespace sluice
