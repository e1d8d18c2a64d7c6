"""django-machina (Django's ORM and templates) with generated Chinese threads, on loopback: twenty threads and fifteen
posts to a page, as it comes. Addresses: /forum/SLUG-ID/?page=N, /forum/SLUG-ID/topic/SLUG-ID/?page=N (and ?post=ID
for the page with that post). The board for members is listed, but leads guests to the login page."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from math import ceil
from pathlib import Path

HERE = Path(__file__).resolve().parent
# This file has the package's name: what is imported below must not be this file.
sys.path.remove(str(HERE))

import django  # noqa: E402
import machina  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import include, path  # noqa: E402

sys.path.append(str(HERE))
from content import Activity, Content  # noqa: E402
from served import home, options, serve, write_truth  # noqa: E402

PER_PAGE = 15
ADDRESSES = {"index": r"^/forum/[^/?]+-(?P<id>\d+)/(?:\?page=(?P<page>\d+))?$",
             "thread": r"^/forum/[^/?]+/topic/[^/?]+-(?P<id>\d+)/(?:\?page=(?P<page>\d+)|\?post=\d+)?$"}
APPS = ["forum", "forum_conversation", "forum_conversation.forum_attachments", "forum_conversation.forum_polls",
        "forum_feeds", "forum_moderation", "forum_search", "forum_tracking", "forum_member", "forum_permission"]
READ = ["can_see_forum", "can_read_forum", "can_download_file"]
LOGIN = """{% extends "board_base.html" %}{% block content %}<h1>登录</h1><p>请先登录后再访问。</p>
<form method="post">{% csrf_token %}{{ form.as_p }}<button type="submit">登录</button></form>{% endblock %}"""

urlpatterns: list = []  # the module is its own table of addresses, filled in configure()


def configure(data: Path) -> None:
    # Django says zh_Hans where machina says zh_CN.
    words = data / "locale"
    if not words.exists():
        words.mkdir()
        (words / "zh_Hans").symlink_to(Path(machina.__file__).parent / "locale" / "zh_CN")
    settings.configure(
        DEBUG=False,
        SECRET_KEY="a forum on loopback",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": data / "machina.sqlite",
                               "OPTIONS": {"timeout": 30}}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
                        "django.contrib.messages", "django.contrib.humanize", "mptt", "haystack", "widget_tweaks",
                        "machina", *(f"machina.apps.{app}" for app in APPS)],
        MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware",
                    "django.middleware.common.CommonMiddleware",
                    "django.contrib.auth.middleware.AuthenticationMiddleware",
                    "django.contrib.messages.middleware.MessageMiddleware",
                    "machina.apps.forum_permission.middleware.ForumPermissionMiddleware"],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates",
                    "DIRS": [machina.MACHINA_MAIN_TEMPLATE_DIR],
                    "OPTIONS": {
                        "context_processors": ["django.template.context_processors.request",
                                               "django.contrib.auth.context_processors.auth",
                                               "django.contrib.messages.context_processors.messages",
                                               "machina.core.context_processors.metadata"],
                        "loaders": [("django.template.loaders.cached.Loader", [
                            ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
                            "django.template.loaders.filesystem.Loader",
                            "django.template.loaders.app_directories.Loader"])]}}],
        CACHES={name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name}
                for name in ("default", "machina_attachments")},
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
        LANGUAGE_CODE="zh-hans",
        LOCALE_PATHS=[words],
        TIME_ZONE="Asia/Shanghai",
        USE_TZ=True,
        STATIC_URL="/static/",
        MEDIA_ROOT=data / "media",
        LOGIN_URL="/login/",
        MACHINA_FORUM_NAME="碎岛社区",
    )
    django.setup()
    from django.contrib.auth.views import LoginView

    urlpatterns.extend([path("login/", LoginView.as_view(), name="login"), path("", include("machina.urls"))])


def fill(content: Content) -> None:
    """Rows as machina's own save() would have left them, had it been called at the time of each post."""
    from django.contrib.auth.models import User
    from django.db import transaction
    from django.db.models.signals import pre_save
    from django.utils.text import slugify
    from machina.apps.forum.models import Forum
    from machina.apps.forum_conversation.models import Post, Topic
    from machina.apps.forum_permission.models import ForumPermission, UserForumPermission

    with transaction.atomic():
        users = User.objects.bulk_create(User(username=name, password="!") for name in content.users)
        categories, forums = {}, []
        for board in content.boards:
            if board.category not in categories:
                categories[board.category] = Forum.objects.create(name=board.category, type=Forum.FORUM_CAT)
            parent = Forum.objects.get(pk=categories[board.category].pk)  # the tree's numbers change with every child
            forums.append(Forum.objects.create(name=board.name, description=board.description, parent=parent,
                                               type=Forum.FORUM_POST))
        granted = [(forum, name) for forum in Forum.objects.all() for name in READ]
        members_only = {forum.pk for forum, board in zip(forums, content.boards) if board.members_only}
        for forum, name in granted:
            permission = ForumPermission.objects.get(codename=name)
            if name == "can_see_forum" or forum.pk not in members_only:
                UserForumPermission.objects.create(permission=permission, forum=forum, anonymous_user=True)
            UserForumPermission.objects.create(permission=permission, forum=forum, authenticated_user=True)
        topics = Topic.objects.bulk_create(
            Topic(forum=forums[thread.board], poster=users[thread.posts[0].author], subject=thread.title,
                  slug=slugify(thread.title, allow_unicode=True) or "topic", views_count=thread.views,
                  type=Topic.TOPIC_STICKY if thread.sticky else Topic.TOPIC_POST,
                  status=Topic.TOPIC_LOCKED if thread.locked else Topic.TOPIC_UNLOCKED)
            for thread in content.threads)
        order = content.posts_in_time()
        posts = [Post(topic=topics[i], poster=users[content.threads[i].posts[j].author],
                      subject=("Re: " if j else "") + content.threads[i].title, content=content.threads[i].posts[j].text)
                 for _, i, j in order]
        for post in posts:
            pre_save.send(sender=Post, instance=post)  # renders its text
        Post.objects.bulk_create(posts)
        # Creation stamps a row with the present, whatever it says: the times come afterwards.
        for post, (at, i, j) in zip(posts, order):
            post.created = post.updated = at.replace(tzinfo=timezone.utc)
            topics[i].last_post, topics[i].last_post_on = post, post.created
            topics[i].posts_count = j + 1
            if j == 0:
                topics[i].first_post, topics[i].created = post, post.created
        Post.objects.bulk_update(posts, ["created", "updated"], batch_size=200)
        Topic.objects.bulk_update(
            topics, ["created", "first_post", "last_post", "last_post_on", "posts_count"], batch_size=100)
        for forum in Forum.objects.filter(type=Forum.FORUM_POST):
            forum.update_trackers()


def add(threads: int, replies: int) -> None:
    """Through machina's own save(), as its forms do."""
    from django.contrib.auth.models import User
    from machina.apps.forum.models import Forum
    from machina.apps.forum_conversation.models import Post, Topic

    before = list(Topic.objects.order_by("id"))
    activity = Activity(len(before) + Post.objects.count(), datetime.utcnow())
    users = list(User.objects.order_by("id"))
    forums = list(Forum.objects.filter(type=Forum.FORUM_POST).order_by("id"))
    for _ in range(threads):
        board = activity.board()
        author, title = users[activity.content.author()], activity.content.title(board)
        topic = Topic.objects.create(forum=forums[board], poster=author, subject=title, type=Topic.TOPIC_POST,
                                     status=Topic.TOPIC_UNLOCKED)
        Post.objects.create(topic=topic, poster=author, subject=title, content=activity.content.text(board))
    for topic in activity.draw.sample(before, min(replies, len(before))):
        board = [forum.pk for forum in forums].index(topic.forum_id)
        Post.objects.create(topic=topic, poster=users[activity.content.author()], subject=f"Re: {topic.subject}",
                            content=activity.content.text(board))


def describe(data: Path, base: str) -> str:
    from django.urls import reverse
    from machina.apps.forum.models import Forum
    from machina.apps.forum_conversation.models import Topic
    from machina.apps.forum_permission.models import UserForumPermission

    open_to_guests = set(UserForumPermission.objects.filter(
        permission__codename="can_read_forum", anonymous_user=True).values_list("forum_id", flat=True))
    boards = [{"id": forum.pk, "name": forum.name, "url": reverse("forum:forum", args=[forum.slug, forum.pk]),
               "readable": forum.pk in open_to_guests}
              for forum in Forum.objects.filter(type=Forum.FORUM_POST).order_by("id")]
    threads = [{"id": topic.pk, "url": reverse("forum_conversation:topic", args=[topic.forum.slug, topic.forum.pk, topic.slug, topic.pk]),
                "board": topic.forum_id, "title": topic.subject, "posts": topic.posts_count,
                "pages": ceil(topic.posts_count / PER_PAGE), "sticky": topic.is_sticky,
                "last": int(topic.last_post_on.timestamp()), "readable": topic.forum_id in open_to_guests}
               for topic in Topic.objects.select_related("forum").order_by("id")]
    write_truth(data, base, "django-machina", ADDRESSES, boards, threads)
    return f"{len(boards)} boards, {len(threads)} threads"


def main() -> None:
    given = options("A django-machina forum with generated Chinese threads, on loopback.")
    fresh = not (given.data / "machina.sqlite").exists()
    configure(given.data)
    if given.add is not None:
        add(given.add, given.replies)
        print(describe(given.data, home(given.data)))
        return
    if fresh:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        fill(Content(given.seed, given.threads, datetime.utcnow()))
    from django.core.wsgi import get_wsgi_application

    serve(get_wsgi_application(), given, lambda base: describe(given.data, base))


if __name__ == "__main__":
    main()
