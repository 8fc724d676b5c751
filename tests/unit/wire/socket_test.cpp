#include "lib/wire/socket.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::socket_test {
namespace {

class Sockets : public testing::Test {
protected:
    Sockets() {
        char name[] = "/tmp/sluice-socket-XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~Sockets() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name = "s") const {
        return folder_ + "/" + name;
    }
    [[nodiscard]] struct stat info() const {
        struct stat out{};
        EXPECT_EQ(::lstat(path().c_str(), &out), 0);
        return out;
    }

private:
    std::string folder_;
};

TEST_F(Sockets, ModeIsAsAskedWhateverTheUmask) {
    for (const mode_t mode : {0660U, 0600U, 0666U}) {
        const mode_t before = ::umask(0077);
        const Result<Fd> listener = listen_unix({.path = path(), .mode = mode});
        ::umask(before);
        ASSERT_TRUE(listener) << listener.error().what;
        EXPECT_EQ(info().st_mode & 0777U, mode);
        EXPECT_TRUE(connect_unix(path()));
        ::unlink(path().c_str());
    }
}

// Whoever starts a daemon without rights is told that, and not that it runs already.
TEST_F(Sockets, WhatItsUserMayNotDoIsSaid) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root may become somebody else";
    }
    const std::string folder = path().substr(0, path().rfind('/'));
    const Result<Fd> roots = listen_unix({.path = path(), .mode = 0600});
    ASSERT_TRUE(roots);
    std::vector<std::string> said;
    for (const mode_t mode : {0755U, 0700U}) {
        ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
        ASSERT_EQ(::seteuid(65'534), 0);
        const Result<Fd> refused = listen_unix({.path = path()});
        ASSERT_EQ(::seteuid(0), 0);
        ASSERT_FALSE(refused);
        said.push_back(refused.error().what);
    }
    EXPECT_NE(said[0].find("another user's socket is in the way of " + path()), std::string::npos);
    EXPECT_NE(said[1].find("cannot make the socket " + path()), std::string::npos) << said[1];
    for (const std::string& text : said) {
        EXPECT_NE(text.find("Permission denied; this process runs as nobody: run it as root"),
                  std::string::npos)
            << text;
    }
}

// Whoever may not connect learns what stands in the way, and who may.
TEST_F(Sockets, TheRightThatIsMissingToConnectIsSaid) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root may become somebody else";
    }
    const std::string folder = path().substr(0, path().rfind('/'));
    const Result<Fd> roots =
        listen_unix({.path = path(), .mode = 0660, .owner = {}, .group = "daemon"});
    ASSERT_TRUE(roots);
    ASSERT_EQ(::chown(folder.c_str(), 0, info().st_gid), 0);
    const auto refused = [&](mode_t mode) {
        EXPECT_EQ(::chmod(folder.c_str(), mode), 0);
        EXPECT_EQ(::seteuid(65'534), 0);
        const Result<Fd> done = connect_unix(path());
        const Result<Fd> absent = connect_unix(path("absent"));
        EXPECT_EQ(::seteuid(0), 0);
        EXPECT_FALSE(done || absent);
        return std::pair{done.error().what, absent.error().what};
    };
    const std::string denied = "cannot reach " + path() + ": Permission denied; nobody may not ";
    EXPECT_EQ(refused(0750).first,
              denied + "enter the folder " + folder +
                  " (mode 0750, of root:daemon): run it as root, or as a member "
                  "of the group daemon");
    EXPECT_EQ(refused(0700).first, denied + "enter the folder " + folder +
                                       " (mode 0700, of root:daemon): run it as root");
    const auto [denied_socket, absent] = refused(0755);
    EXPECT_EQ(denied_socket, denied + "write to the socket " + path() +
                                 " (mode 0660, of root:daemon): run it as root, or as a member of "
                                 "the group daemon");
    EXPECT_EQ(absent, "cannot reach " + path("absent") + ": No such file or directory");
}

TEST_F(Sockets, OwnerAndGroupAreHandedOver) {
    const passwd* user = ::getpwnam("nobody");
    if (::geteuid() != 0 || user == nullptr) {
        GTEST_SKIP() << "only root may give a file away";
    }
    const group* own = ::getgrgid(user->pw_gid);
    ASSERT_NE(own, nullptr);
    const Result<Fd> listener =
        listen_unix({.path = path(), .mode = 0660, .owner = "nobody", .group = own->gr_name});
    ASSERT_TRUE(listener) << listener.error().what;
    EXPECT_EQ(info().st_uid, user->pw_uid);
    EXPECT_EQ(info().st_gid, user->pw_gid);
}

// From the moment that it is the owner's, the owner may put a link in its place.
TEST_F(Sockets, ALinkInTheirPlaceGivesAwayNothing) {
    std::ofstream{path("secret")} << "x";
    ASSERT_EQ(::chmod(path("secret").c_str(), 0600), 0);
    std::filesystem::create_symlink(path("secret"), path());
    EXPECT_FALSE(hand_over_socket({.path = path(), .mode = 0666, .owner = "nobody"}));
    struct stat secret{};
    ASSERT_EQ(::stat(path("secret").c_str(), &secret), 0);
    EXPECT_EQ(secret.st_mode & 0777U, 0600U);
    EXPECT_EQ(secret.st_uid, ::geteuid());
}

TEST_F(Sockets, AnUnknownOwnerOrGroupLeavesNothingBehind) {
    for (const SocketOptions& options :
         {SocketOptions{.path = path(), .mode = 0660, .owner = "no-such-user", .group = {}},
          SocketOptions{.path = path(), .mode = 0660, .owner = {}, .group = "no-such-group"}}) {
        const Result<Fd> listener = listen_unix(options);
        ASSERT_FALSE(listener);
        EXPECT_NE(listener.error().what.find("no-such-"), std::string::npos);
        EXPECT_FALSE(std::filesystem::exists(path()));
    }
}

TEST_F(Sockets, ALiveSocketIsRefusedAndGoesOn) {
    const Result<Fd> listener = listen_unix({.path = path()});
    ASSERT_TRUE(listener);
    const Result<Fd> second = listen_unix({.path = path()});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::Refused);
    EXPECT_TRUE(connect_unix(path()));
}

TEST_F(Sockets, ALiveSocketWithAFullBacklogIsNotStale) {
    const Result<Fd> listener = listen_unix({.path = path()});
    ASSERT_TRUE(listener);
    std::vector<Fd> clients;
    for (;;) {
        Result<Fd> client = connect_unix(path());
        if (!client) {
            break;
        }
        clients.push_back(*std::move(client));
        ASSERT_LT(clients.size(), 10'000U);
    }
    EXPECT_FALSE(listen_unix({.path = path()}));
    EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(Sockets, ADeadSocketIsReplaced) {
    {
        ASSERT_TRUE(listen_unix({.path = path()}));
    }
    ASSERT_TRUE(std::filesystem::exists(path()));
    const Result<Fd> dead = connect_unix(path());
    ASSERT_FALSE(dead);
    EXPECT_EQ(dead.error().code, Errc::Unreachable);
    const Result<Fd> listener = listen_unix({.path = path()});
    ASSERT_TRUE(listener) << listener.error().what;
    EXPECT_TRUE(connect_unix(path()));
}

TEST_F(Sockets, AnotherKindOfFileIsLeftAlone) {
    std::ofstream{path()} << "kept";
    ASSERT_FALSE(listen_unix({.path = path()}));
    std::ifstream file{path()};
    std::string text;
    file >> text;
    EXPECT_EQ(text, "kept");
}

TEST_F(Sockets, TheFolderIsMadeButNotItsParents) {
    EXPECT_TRUE(listen_unix({.path = path("run/s")}));
    EXPECT_FALSE(listen_unix({.path = path("a/b/s")}));
}

TEST_F(Sockets, PathsThatNoAddressHolds) {
    for (const std::string& name : {std::string{}, path(std::string(200, 'x'))}) {
        EXPECT_EQ(listen_unix({.path = name}).error().code, Errc::OutOfRange);
        EXPECT_EQ(connect_unix(name).error().code, Errc::OutOfRange);
    }
}

TEST_F(Sockets, ThePeerIsWhoItIs) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const Fd first{ends[0]};
    const Fd second{ends[1]};
    const Result<Peer> peer = peer_of(first.get());
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->uid, ::geteuid());
    EXPECT_EQ(peer->gid, ::getegid());
    EXPECT_EQ(peer->pid, ::getpid());
    EXPECT_FALSE(peer_of(-1));
}

TEST_F(Sockets, WhoMaySpeak) {
    const Result<Fd> listener = listen_unix({.path = path()});
    ASSERT_TRUE(listener);
    const gid_t ours = info().st_gid;
    EXPECT_TRUE(may_speak({.uid = 0, .gid = 0, .pid = 1}, path()));
    EXPECT_TRUE(may_speak({.uid = ::geteuid(), .gid = 12345, .pid = 1}, path()));
    EXPECT_TRUE(may_speak({.uid = 54321, .gid = ours, .pid = 1}, path()));
    EXPECT_FALSE(may_speak({.uid = 54321, .gid = 54321, .pid = 1}, path())) << "nobody knows it";
    EXPECT_FALSE(may_speak({.uid = 54321, .gid = 54321, .pid = 1}, path("absent")));
}

// What `ask` says in a process of its own, for which `nobody` is listed in the group 4711.
std::optional<bool> with_membership(const std::string& groups, const std::function<bool()>& ask) {
    constexpr int kNo = 1;
    constexpr int kNotAllowed = 2;
    std::ofstream{groups} << "root:x:0:\nsluice-test:x:4711:daemon,nobody\n";
    const pid_t child = ::fork();
    if (child == 0) {
        const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                             ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                             ::mount(groups.c_str(), "/etc/group", nullptr, MS_BIND, nullptr) == 0;
        ::_exit(!mounted ? kNotAllowed : ask() ? 0 : kNo);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status) == kNotAllowed ? std::nullopt
                                              : std::optional{WEXITSTATUS(status) == 0};
}

TEST_F(Sockets, AMemberOfTheGroupMaySpeakBySupplementaryMembershipToo) {
    const passwd* user = ::getpwnam("nobody");
    const Result<Fd> listener = listen_unix({.path = path()});
    ASSERT_TRUE(listener && user != nullptr);
    const Peer peer{.uid = user->pw_uid, .gid = user->pw_gid, .pid = 1};
    const auto ask = [&] { return may_speak(peer, path()); };
    EXPECT_FALSE(ask());
    if (::chown(path().c_str(), 0, 4711) != 0) {
        GTEST_SKIP() << "only root may give a file away";
    }
    EXPECT_FALSE(ask());
    const std::optional<bool> member = with_membership(path("group"), ask);
    if (!member) {
        GTEST_SKIP() << "no mount namespaces here";
    }
    EXPECT_TRUE(*member);
}

}  // namespace
}  // namespace sluice::socket_test
