"""FlaskBB (Flask, SQLAlchemy) with generated Chinese threads, on loopback: ten threads and ten posts per page, its
default. URLs: /forum/ID-slug?page=N, /topic/ID-slug?page=N, /post/ID (leads to the page of the thread with it).
Guests do not see what only members may read."""

from __future__ import annotations

import collections
import collections.abc
import sys
import warnings
from datetime import datetime, timezone
from math import ceil
from pathlib import Path

HERE = sys.path.pop(0)  # this file has the package's name: what is imported now must not be this file
# FlaskBB 2.0 (2018) uses names of abstract collections that Python 3.10 removed.
for name in collections.abc.__all__:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
warnings.simplefilter("ignore")

from flaskbb import create_app  # noqa: E402
from flaskbb.configs.default import DefaultConfig  # noqa: E402
from flaskbb.extensions import db  # noqa: E402
from flaskbb.forum.models import Category, Forum, Post, Topic  # noqa: E402
from flaskbb.management.models import Setting  # noqa: E402
from flaskbb.user.models import Group, User  # noqa: E402
from flaskbb.utils.populate import create_default_groups, create_default_settings  # noqa: E402

sys.path.insert(0, HERE)
import served  # noqa: E402
from content import Content  # noqa: E402

PER_PAGE = 10


class FlaskBB:
    name = "FlaskBB"

    def open(self, database: Path):
        class Config(DefaultConfig):
            SQLALCHEMY_DATABASE_URI = f"sqlite:///{database}"
            USE_DEFAULT_LOGGING = False
            WHOOSHEE_DIR = str(database.parent / "whoosh")
            WHOOSHEE_ENABLE_INDEXING = False
            DEBUG_TB_ENABLED = False
            RATELIMIT_ENABLED = False
            # Created at the start, by default next to the package, where two simultaneous starts would collide.
            ALEMBIC = {**DefaultConfig.ALEMBIC, "script_location": str(database.parent / "migrations")}

        self._app = create_app(Config, instance_path=str(database.parent / "instance"))
        return self._app

    def context(self):
        return self._app.test_request_context()

    def fill(self, content: Content) -> None:
        db.create_all()
        create_default_groups()
        create_default_settings()
        Setting.query.filter_by(key="default_language").one().value = "zh_CN"
        Setting.query.filter_by(key="project_title").one().value = "碎岛论坛"
        member, groups = Group.get_member_group(), Group.query.all()
        users = [User(username=name, email=f"user{i}@example.org", primary_group_id=member.id, activated=True)
                 for i, name in enumerate(content.users)]
        for user in users:
            user._password = "none"  # no user logs in
        db.session.add_all(users)
        categories, forums = {}, []
        for board in content.boards:
            if board.category not in categories:
                categories[board.category] = Category(title=board.category, position=len(categories) + 1).save()
            forum = Forum(title=board.name, description=board.description, position=len(forums) + 1,
                          category_id=categories[board.category].id).save(groups=groups)
            forum.groups = [group for group in groups if not (board.members_only and group.guest)]
            forums.append(forum)
        topics = []
        for thread in content.threads:
            topic = Topic(title=thread.title, user=users[thread.posts[0].author])
            topic.forum_id, topic.important, topic.locked = forums[thread.board].id, thread.sticky, thread.locked
            topic.views, topic.post_count = thread.views, len(thread.posts)
            topic.date_created, topic.last_updated = aware(thread.posts[0].at), aware(thread.posts[-1].at)
            topics.append(topic)
        db.session.add_all(topics)
        db.session.flush()
        posts = {}
        for at, i, j in content.posts_in_time():
            drawn = content.threads[i].posts[j]
            posts[i, j] = post = Post(content=drawn.text, user=users[drawn.author], topic=topics[i].id)
            post.date_created = aware(at)
            db.session.add(post)
        db.session.flush()
        for i, (topic, thread) in enumerate(zip(topics, content.threads)):
            topic.first_post_id, topic.last_post_id = posts[i, 0].id, posts[i, len(thread.posts) - 1].id
        db.session.commit()
        for forum in forums:
            forum.recalculate(last_post=True)
        for user in users:
            user.recalculate()

    def begin(self, board: int, author: int, title: str, text: str) -> None:
        Topic(title=title).save(user=nth(User, author), forum=nth(Forum, board), post=Post(content=text))

    def reply(self, thread: int, author: int, text: str) -> None:
        Post(content=text).save(user=nth(User, author), topic=Topic.query.get(thread))

    def describe(self) -> tuple[list[dict], list[dict]]:
        boards = [{"id": forum.id, "name": forum.title, "url": forum.url, "also": [f"/forum/{forum.id}"],
                   "readable": any(group.guest for group in forum.groups)} for forum in Forum.query.order_by(Forum.id)]
        readable = {board["id"] for board in boards if board["readable"]}
        threads = [{"id": topic.id, "url": topic.url, "also": [f"/topic/{topic.id}"], "board": topic.forum_id,
                    "title": topic.title, "posts": topic.post_count, "pages": ceil(topic.post_count / PER_PAGE),
                    "sticky": topic.important, "last": int(topic.last_updated.timestamp()),
                    "readable": topic.forum_id in readable} for topic in Topic.query.order_by(Topic.id)]
        return boards, threads


def aware(at: datetime) -> datetime:
    return at.replace(tzinfo=timezone.utc)


def nth(model, place: int):
    return model.query.order_by(model.id).offset(place).first()


if __name__ == "__main__":
    served.main(FlaskBB())
