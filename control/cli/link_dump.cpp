#include "control/cli/link_dump.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

namespace sluice {
namespace {

constexpr std::string_view kAsked = "to tell of its interfaces";

// Attributes one after the other, each with what it holds.
template <typename Take>
void for_each_attribute(const rtattr* at, std::size_t left, Take&& take) {
    while (left >= sizeof(*at) && at->rta_len >= sizeof(*at) && at->rta_len <= left) {
        take(at->rta_type & NLA_TYPE_MASK, reinterpret_cast<const char*>(at) + RTA_LENGTH(0),
             at->rta_len - RTA_LENGTH(0));
        const std::size_t step = std::min<std::size_t>(RTA_ALIGN(at->rta_len), left);
        at = reinterpret_cast<const rtattr*>(reinterpret_cast<const char*>(at) + step);
        left -= step;
    }
}

std::uint32_t number_in(const char* value, std::size_t size) {
    std::uint32_t number = 0;
    std::memcpy(&number, value, std::min(size, sizeof(number)));
    return number;
}

// One interface, as the kernel tells of it; `program` 0: it has none.
InterfaceProgram read_link(const nlmsghdr& message) {
    InterfaceProgram found;
    const char* const first =
        reinterpret_cast<const char*>(&message) + NLMSG_SPACE(sizeof(ifinfomsg));
    const std::size_t size = message.nlmsg_len - NLMSG_SPACE(sizeof(ifinfomsg));
    for_each_attribute(reinterpret_cast<const rtattr*>(first), size,
                       [&](int type, const char* value, std::size_t length) {
                           if (type == IFLA_IFNAME) {
                               found.interface.assign(value, ::strnlen(value, length));
                           } else if (type == IFLA_XDP) {
                               for_each_attribute(
                                   reinterpret_cast<const rtattr*>(value), length,
                                   [&](int part, const char* held, std::size_t bytes) {
                                       if (part == IFLA_XDP_PROG_ID) {
                                           found.program = number_in(held, bytes);
                                       } else if (part == IFLA_XDP_ATTACHED) {
                                           found.native =
                                               number_in(held, std::min<std::size_t>(bytes, 1)) ==
                                               XDP_ATTACHED_DRV;
                                       }
                                   });
                           }
                       });
    return found;
}

// The number that an error, or an end, carries; 0: no error.
int error_in(const nlmsghdr& message) {
    int error = 0;
    if (message.nlmsg_len >= NLMSG_LENGTH(sizeof(error))) {
        std::memcpy(&error, reinterpret_cast<const char*>(&message) + NLMSG_HDRLEN, sizeof(error));
    }
    return error;
}

Error refused_by(const nlmsghdr& message) {
    return {Errc::Refused,
            "the kernel refuses " + std::string{kAsked} + ": " + std::strerror(-error_in(message))};
}

}  // namespace

Result<LinkDump::After> LinkDump::read(ByteView answer) {
    while (!answer.empty()) {
        const auto& message = *reinterpret_cast<const nlmsghdr*>(answer.data());
        if (answer.size() < sizeof(nlmsghdr) || message.nlmsg_len < sizeof(nlmsghdr) ||
            message.nlmsg_len > answer.size()) {
            return Error{Errc::BadSyntax, "the kernel's list of interfaces is cut"};
        }
        if ((message.nlmsg_flags & NLM_F_DUMP_INTR) != 0) {
            return Error{Errc::Refused,
                         "interfaces have changed while the kernel told of them; ask again"};
        }
        if (message.nlmsg_type == NLMSG_ERROR ||
            (message.nlmsg_type == NLMSG_DONE && error_in(message) < 0)) {
            return refused_by(message);
        }
        if (message.nlmsg_type == NLMSG_DONE) {
            return After::Whole;
        }
        if (message.nlmsg_type == RTM_NEWLINK &&
            message.nlmsg_len >= NLMSG_SPACE(sizeof(ifinfomsg))) {
            if (InterfaceProgram one = read_link(message); one.program != 0) {
                found_.push_back(std::move(one));
            }
        }
        answer =
            answer.subspan(std::min<std::size_t>(NLMSG_ALIGN(message.nlmsg_len), answer.size()));
    }
    return After::MoreCome;
}

}  // namespace sluice
