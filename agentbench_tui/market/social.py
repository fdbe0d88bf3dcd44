"""The feed and the group chats as the tested agent sees them, and what it writes itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.actions import INVALID_PARAMS, NOT_INVITED, MethodError
from agentbench_tui.model.errors import did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.market.world import Message, Post, World
    from agentbench_tui.market.world_view import WorldView

SELF = "you"
"""The tested agent as an author."""
TREND_TICKS = 10
"""How far back tags are counted."""


class Social:
    """What was posted and who joined what, up to the tick at hand."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._names = {agent.id: agent.name for agent in world.agents}
        self._groups = {group.id: group for group in world.groups}
        self.joined: dict[str, int] = {}
        """Group to tick."""
        self.own: list[dict[str, Any]] = []
        """Own posts, oldest first."""

    def feed(self, view: WorldView, limit: int, offset: int) -> list[dict[str, Any]]:
        """Posts newest first, own ones among them."""
        if not self.own:
            return [self.post(each) for each in view.posts(limit, offset)]
        posts = [self.post(each) for each in view.posts(limit + offset)]
        newest = sorted([*self.own[::-1], *posts], key=lambda post: -post["createdAt"])
        return newest[offset : offset + limit]

    def write(self, view: WorldView, content: str, subject: str) -> str:
        """Publish an own post; returns its id."""
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
        """Join a group one is invited to; joining again changes nothing."""
        known = {group.id for group in view.groups() if view.invited(group.id)}
        if name not in self._groups or self._groups[name].created > view.tick:
            hint = did_you_mean(name, known)
            raise MethodError(INVALID_PARAMS, f'there is no group "{name}"{hint}', "groupId")
        if name not in known:
            raise MethodError(NOT_INVITED, f"you are not invited to {name} yet", "groupId")
        self.joined.setdefault(name, view.tick)

    def chats(self, view: WorldView, limit: int) -> list[dict[str, Any]]:
        """Groups that the agent is invited to; messages only of those that it joined."""
        return [
            self._chat(view, group.id, limit) for group in view.groups() if view.invited(group.id)
        ]

    def _chat(self, view: WorldView, name: str, limit: int) -> dict[str, Any]:
        group = self._groups[name]
        messages = view.messages(name)
        joined = name in self.joined
        last = messages[-1].tick if messages else group.created
        return {
            "id": name,
            "name": group.name,
            "memberCount": len(group.members) + joined,
            "messageCount": len(messages),
            "lastActivity": self._world.time_ms(last),
            "invited": True,
            "joined": joined,
            "messages": [self.message(each) for each in messages[-limit:]] if joined else [],
        }

    def tags(self, view: WorldView) -> list[dict[str, Any]]:
        """Subjects of the posts of the last ticks, most frequent first."""
        counts: Counter[str] = Counter()
        for post in view.posts(500):
            if post.tick <= view.tick - TREND_TICKS:
                break
            if post.subject:
                counts[post.subject] += 1
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [{"tag": subject, "posts": count} for subject, count in ranked[:10]]

    def post(self, post: Post) -> dict[str, Any]:
        """A post as JSON."""
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

    def message(self, message: Message) -> dict[str, Any]:
        """A message as JSON."""
        return {
            "id": message.id,
            "authorId": message.author,
            "authorName": self._names.get(message.author, message.author),
            "content": message.content,
            "timestamp": self._world.time_ms(message.tick),
            "subject": message.subject,
            "lean": message.lean,
        }
