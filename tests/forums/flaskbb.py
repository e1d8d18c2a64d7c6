"""FlaskBB (Flask, SQLAlchemy) with generated Chinese threads, on loopback: ten threads and ten posts to a page, as it
comes. Addresses: /forum/ID-slug?page=N, /topic/ID-slug?page=N, /post/ID (leads to the page of the thread with it)."""

from __future__ import annotations

import collections
import collections.abc
import sys
import warnings
from datetime import datetime, timezone
from math import ceil
from pathlib import Path

# This file has the package's name: what is imported below must not be this file.
sys.path.remove(str(Path(__file__).resolve().parent))
# FlaskBB 2.0 is of 2018: Python 3.10 took away the names of the abstract collections that it uses.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))
from content import Activity, Content  # noqa: E402
from served import home, options, serve, write_truth  # noqa: E402

PER_PAGE = 10
ADDRESSES = {"index": r"^/forum/(?P<id>\d+)(?:-[^/?]*)?(?:\?page=(?P<page>\d+))?$",
             "thread": r"^/topic/(?P<id>\d+)(?:-[^/?]*)?(?:\?page=(?P<page>\d+))?$"}


def application(data: Path):
    class Config(DefaultConfig):
        SQLALCHEMY_DATABASE_URI = f"sqlite:///{data / 'flaskbb.sqlite'}"
        USE_DEFAULT_LOGGING = False
        WHOOSHEE_DIR = str(data / "whoosh")
        WHOOSHEE_ENABLE_INDEXING = False
        DEBUG_TB_ENABLED = False
        RATELIMIT_ENABLED = False

    return create_app(Config, instance_path=str(data / "instance"))


def fill(content: Content) -> None:
    """Rows as FlaskBB's own save() would have left them, had it been called at the time of each post."""
    db.create_all()
    create_default_groups()
    create_default_settings()
    Setting.query.filter_by(key="default_language").one().value = "zh_CN"
    Setting.query.filter_by(key="project_title").one().value = "碎岛论坛"
    member = Group.get_member_group()
    users = [User(username=name, email=f"user{i}@example.org", primary_group_id=member.id, activated=True)
             for i, name in enumerate(content.users)]
    for user in users:
        user._password = "none"  # nobody logs in
    db.session.add_all(users)
    groups = Group.query.all()
    categories, forums = {}, []
    for board in content.boards:
        if board.category not in categories:
            categories[board.category] = Category(title=board.category, position=len(categories) + 1).save()
        forum = Forum(title=board.name, description=board.description, category_id=categories[board.category].id,
                      position=len(forums) + 1)
        forums.append(forum.save(groups=groups))
        forum.groups = [group for group in groups if not (board.members_only and group.guest)]
    db.session.flush()
    topics = []
    for thread in content.threads:
        author = users[thread.posts[0].author]
        topic = Topic(title=thread.title, user=author)
        topic.forum_id, topic.important, topic.locked = forums[thread.board].id, thread.sticky, thread.locked
        topic.views, topic.post_count = thread.views, len(thread.posts)
        topic.date_created, topic.last_updated = (aware(thread.posts[i].at) for i in (0, -1))
        topics.append(topic)
    db.session.add_all(topics)
    db.session.flush()
    posts = {}
    for at, i, j in content.posts_in_time():
        said = content.threads[i].posts[j]
        post = Post(content=said.text, user=users[said.author], topic=topics[i].id)
        post.date_created = aware(at)
        db.session.add(post)
        posts[i, j] = post
    db.session.flush()
    for i, (topic, thread) in enumerate(zip(topics, content.threads)):
        topic.first_post_id, topic.last_post_id = posts[i, 0].id, posts[i, len(thread.posts) - 1].id
    db.session.commit()
    for forum in Forum.query.all():
        forum.recalculate(last_post=True)
    for user in User.query.all():
        user.recalculate()


def aware(at: datetime) -> datetime:
    return at.replace(tzinfo=timezone.utc)


def add(threads: int, replies: int) -> None:
    """Through FlaskBB's own save(), as its forms do."""
    before = Topic.query.order_by(Topic.id).all()
    activity = Activity(len(before) + Post.query.count(), datetime.utcnow())
    users, forums = User.query.order_by(User.id).all(), Forum.query.order_by(Forum.id).all()
    for _ in range(threads):
        board = activity.board()
        topic, post = Topic(title=activity.content.title(board)), Post(content=activity.content.text(board))
        topic.save(user=users[activity.content.author()], forum=forums[board], post=post)
    for topic in activity.draw.sample(before, min(replies, len(before))):
        text = activity.content.text(topic.forum_id - forums[0].id)
        Post(content=text).save(user=users[activity.content.author()], topic=topic)


def describe(app, data: Path, base: str) -> str:
    with app.test_request_context():
        boards = [{"id": forum.id, "name": forum.title, "url": forum.url,
                   "readable": any(group.guest for group in forum.groups)} for forum in Forum.query.order_by(Forum.id)]
        open_to_guests = {board["id"] for board in boards if board["readable"]}
        threads = [{"id": topic.id, "url": topic.url, "board": topic.forum_id, "title": topic.title,
                    "posts": topic.post_count, "pages": ceil(topic.post_count / PER_PAGE), "sticky": topic.important,
                    "last": int(topic.last_updated.timestamp()), "readable": topic.forum_id in open_to_guests}
                   for topic in Topic.query.order_by(Topic.id)]
    write_truth(data, base, "FlaskBB", ADDRESSES, boards, threads)
    return f"{len(boards)} boards, {len(threads)} threads"


def main() -> None:
    given = options("A FlaskBB forum with generated Chinese threads, on loopback.")
    fresh = not (given.data / "flaskbb.sqlite").exists()
    app = application(given.data)
    if given.add is not None:
        with app.app_context():
            add(given.add, given.replies)
        print(describe(app, given.data, home(given.data)))
        return
    if fresh:
        with app.app_context():
            fill(Content(given.seed, given.threads, datetime.utcnow()))
    serve(app, given, lambda base: describe(app, given.data, base))


if __name__ == "__main__":
    main()
