#include "control/cli/link_dump.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

namespace sluice::link_dump_test {
namespace {

using After = LinkDump::After;

std::string bytes_of(const void* from, std::size_t size) {
    return {static_cast<const char*>(from), size};
}

std::string attribute(unsigned short type, const std::string& value) {
    rtattr head{};
    head.rta_len = static_cast<unsigned short>(RTA_LENGTH(value.size()));
    head.rta_type = type;
    std::string all = bytes_of(&head, sizeof(head)) + value;
    all.resize(RTA_ALIGN(all.size()));
    return all;
}

std::string message(unsigned short type, const std::string& body, unsigned short flags = 0) {
    nlmsghdr head{};
    head.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(body.size()));
    head.nlmsg_type = type;
    head.nlmsg_flags = flags;
    std::string all = bytes_of(&head, sizeof(head)) + body;
    all.resize(NLMSG_ALIGN(all.size()));
    return all;
}

// `program` 0: without one.
std::string link(std::string_view name, std::uint32_t program, unsigned short flags = 0) {
    const ifinfomsg interface{};
    std::string body = bytes_of(&interface, sizeof(interface));
    body += attribute(IFLA_IFNAME, std::string{name} + '\0');
    if (program != 0) {
        body += attribute(IFLA_XDP,
                          attribute(IFLA_XDP_ATTACHED, std::string(1, XDP_ATTACHED_DRV)) +
                              attribute(IFLA_XDP_PROG_ID, bytes_of(&program, sizeof(program))));
    }
    return message(RTM_NEWLINK, body, flags);
}

std::string number(int value) {
    return bytes_of(&value, sizeof(value));
}

Result<After> read(LinkDump& dump, const std::string& answer) {
    return dump.read(std::as_bytes(std::span{answer}));
}

std::string error_of(const std::string& answer) {
    LinkDump dump;
    const Result<After> after = read(dump, answer);
    return after ? "" : after.error().what;
}

TEST(LinkDump, TellsOfInterfacesWithAProgram) {
    LinkDump dump;
    EXPECT_EQ(*read(dump, link("lo", 0) + link("i", 17)), After::MoreCome);
    EXPECT_EQ(*read(dump, link("o", 18) + message(NLMSG_DONE, number(0))), After::Whole);
    ASSERT_EQ(dump.found().size(), 2U);
    EXPECT_EQ(dump.found()[0].interface, "i");
    EXPECT_EQ(dump.found()[0].program, 17U);
    EXPECT_TRUE(dump.found()[0].native);
    EXPECT_EQ(dump.found()[1].interface, "o");
}

// None of these is the end of the list: "no program at any interface" would be false.
TEST(LinkDump, WhatIsNotTheWholeListIsAnError) {
    EXPECT_NE(error_of(link("i", 17) + message(NLMSG_ERROR, number(-EPERM) + link("", 0)))
                  .find("the kernel refuses to tell of its interfaces: Operation not permitted"),
              std::string::npos);
    EXPECT_NE(error_of(message(NLMSG_DONE, number(-EMSGSIZE))).find("the kernel refuses"),
              std::string::npos);
    EXPECT_NE(error_of(link("i", 17, NLM_F_DUMP_INTR)).find("have changed while"),
              std::string::npos);
    EXPECT_NE(error_of(link("i", 17) + message(NLMSG_DONE, number(0), NLM_F_DUMP_INTR))
                  .find("have changed while"),
              std::string::npos);
    const std::string two = link("i", 17) + link("o", 18);
    EXPECT_NE(error_of(two.substr(0, two.size() - 4)).find("is cut"), std::string::npos);
    EXPECT_NE(error_of(two.substr(0, link("i", 17).size() + 8)).find("is cut"), std::string::npos);
}

}  // namespace
}  // namespace sluice::link_dump_test
