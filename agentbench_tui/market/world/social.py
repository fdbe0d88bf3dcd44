"""The feed and the group chats as visible to the tested agent, and its own posts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.play.actions import INVALID_PARAMS, NOT_INVITED, MethodError
from agentbench_tui.model.errors import did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.market.world.world import Message, Post, World
    from agentbench_tui.market.world.world_view import WorldView

SELF = "you"
"""The tested agent as an author."""
TREND_TICKS = 10
"""Number of ticks over which tags are counted."""
_MOST_COUNTED = 500
"""Maximum number of newest posts among them."""


class Social:
    """Posts and group memberships up to the current tick."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._names = {agent.id: agent.name for agent in world.agents}
        self._posts = [self._post(post) for post in world.posts]
        self._ticks = [post.tick for post in world.posts]
        self._groups = {group.id: group for group in world.groups}
        self._invited = {each.group: each.tick for each in reversed(world.invitations)}
        self._threads: dict[str, list[dict[str, Any]]] = {name: [] for name in self._groups}
        self._thread_ticks: dict[str, list[int]] = {name: [] for name in self._groups}
        for message in world.messages:
            self._threads[message.group].append(self._message(message))
            self._thread_ticks[message.group].append(message.tick)
        self.joined: dict[str, int] = {}
        """Group to tick."""
        self.own: list[dict[str, Any]] = []
        """Own posts, oldest first."""

    def feed(self, view: WorldView, limit: int, offset: int) -> list[dict[str, Any]]:
        """Return posts, newest first, including the agent's own."""
        end = self._end(view.tick)
        if not self.own:
            newest = self._posts[max(0, end - offset - limit) : max(0, end - offset)]
            return newest[::-1]
        posts = self._posts[max(0, end - limit - offset) : end]
        merged = sorted([*self.own, *posts], key=itemgetter("createdAt"))
        return merged[::-1][offset : offset + limit]

    def new_posts(self, view: WorldView) -> list[dict[str, Any]]:
        """Return the posts of others at this tick."""
        return self._posts[self._end(view.tick - 1) : self._end(view.tick)]

    def _end(self, tick: int) -> int:
        return bisect_right(self._ticks, tick)

    def write(self, view: WorldView, content: str, subject: str) -> str:
        """Publish a post of the agent; return its id."""
        name = f"own-{len(self.own) + 1}"
        self.own.append(
            {
                "id": name,
                "authorId": SELF,
                "authorName": SELF,
                "content": content,
                "createdAt": view.time_ms,
                "likes": 0,
                "comments": 0,
                "subject": subject,
                "lean": 0,
            }
        )
        return name

    def join(self, view: WorldView, name: str) -> None:
        """Join a group that the agent is invited to; joining again changes nothing."""
        group = self._groups.get(name)
        if group is None or group.created > view.tick:
            hint = did_you_mean(name, self._open_to(view))
            raise MethodError(INVALID_PARAMS, f'there is no group "{name}"{hint}', "groupId")
        if name not in self._open_to(view):
            raise MethodError(NOT_INVITED, f"you are not invited to {name} yet", "groupId")
        self.joined.setdefault(name, view.tick)

    def chats(self, view: WorldView, limit: int) -> list[dict[str, Any]]:
        """Return the groups that the agent is invited to; messages only of joined ones."""
        return [self._chat(view.tick, name, limit) for name in self._open_to(view)]

    def news(self, view: WorldView) -> list[dict[str, Any]]:
        """Return the groups that the agent is invited to, with the messages of this tick only."""
        found = []
        for name in self._open_to(view):
            ticks = self._thread_ticks[name]
            count = bisect_right(ticks, view.tick) - bisect_right(ticks, view.tick - 1)
            found.append(self._chat(view.tick, name, count))
        return found

    def _open_to(self, view: WorldView) -> list[str]:
        """Return the groups that the agent is invited to."""
        invited = self._invited
        return [
            name
            for name, group in self._groups.items()
            if group.created <= view.tick and invited.get(name, view.tick + 1) <= view.tick
        ]

    def _chat(self, tick: int, name: str, limit: int) -> dict[str, Any]:
        group = self._groups[name]
        count = bisect_right(self._thread_ticks[name], tick)
        joined = name in self.joined
        last = self._thread_ticks[name][count - 1] if count else group.created
        return {
            "id": name,
            "name": group.name,
            "memberCount": len(group.members) + joined,
            "messageCount": count,
            "lastActivity": self._world.time_ms(last),
            "invited": True,
            "joined": joined,
            "messages": self._threads[name][max(0, count - limit) : count] if joined else [],
        }

    def tags(self, view: WorldView) -> list[dict[str, Any]]:
        """Return the subjects of recent posts, most frequent first."""
        posts = self._posts[self._end(view.tick - TREND_TICKS) : self._end(view.tick)]
        counts = Counter(post["subject"] for post in posts[-_MOST_COUNTED:] if post["subject"])
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [{"tag": subject, "posts": count} for subject, count in ranked[:10]]

    def _post(self, post: Post) -> dict[str, Any]:
        return {
            "id": post.id,
            "authorId": post.author,
            "authorName": self._names.get(post.author, post.author),
            "content": post.content,
            "createdAt": self._world.time_ms(post.tick),
            "likes": post.likes,
            "comments": post.comments,
            "subject": post.subject,
            "lean": post.lean,
        }

    def _message(self, message: Message) -> dict[str, Any]:
        return {
            "id": message.id,
            "authorId": message.author,
            "authorName": self._names.get(message.author, message.author),
            "content": message.content,
            "timestamp": self._world.time_ms(message.tick),
            "subject": message.subject,
            "lean": message.lean,
        }
