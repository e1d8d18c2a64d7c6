"""django-machina (Django) with generated Chinese threads, on loopback: twenty threads and fifteen posts per page, its
default. URLs: /forum/SLUG-ID/?page=N, /forum/SLUG-ID/topic/SLUG-ID/?page=N (and ?post=ID for the page with that
post). The board for members is listed, but leads guests to the login page."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from datetime import timezone
from math import ceil
from pathlib import Path

HERE = sys.path.pop(0)  # this file has the package's name: what is imported now must not be this file

import machina  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import include, path, reverse  # noqa: E402

sys.path.insert(0, HERE)
import served  # noqa: E402
from content import Content  # noqa: E402
from djangos import CONTRIB, MIDDLEWARE, common, nth  # noqa: E402

PER_PAGE = 15
APPS = ["forum", "forum_conversation", "forum_conversation.forum_attachments", "forum_conversation.forum_polls",
        "forum_feeds", "forum_moderation", "forum_search", "forum_tracking", "forum_member", "forum_permission"]
LOGIN = """{% extends "board_base.html" %}{% block content %}<h1>登录</h1><p>请先登录后再访问。</p>
<form method="post">{% csrf_token %}{{ form.as_p }}<button type="submit">登录</button></form>{% endblock %}"""

urlpatterns: list = []  # the module is its own table of addresses, filled when it is opened


class Machina:
    name = "django-machina"
    context = nullcontext

    def open(self, database: Path):
        # Django calls zh_Hans what machina calls zh_CN.
        words = database.parent / "locale"
        if not words.exists():
            words.mkdir()
            (words / "zh_Hans").symlink_to(Path(machina.__file__).parent / "locale" / "zh_CN")
        given = common(database, __name__, ["default", "machina_attachments"],
                       ["machina.core.context_processors.metadata"])
        template = given["TEMPLATES"][0]
        del template["APP_DIRS"]
        template["DIRS"] = [machina.MACHINA_MAIN_TEMPLATE_DIR]
        template["OPTIONS"]["loaders"] = [("django.template.loaders.cached.Loader", [
            ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
            "django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"])]
        settings.configure(
            **given,
            INSTALLED_APPS=CONTRIB + ["mptt", "haystack", "widget_tweaks", "machina"]
            + [f"machina.apps.{app}" for app in APPS],
            MIDDLEWARE=MIDDLEWARE + ["machina.apps.forum_permission.middleware.ForumPermissionMiddleware"],
            LOCALE_PATHS=[words],
            LOGIN_URL="/login/",
            MACHINA_FORUM_NAME="碎岛社区",
        )
        application = get_wsgi_application()
        from django.contrib.auth.views import LoginView

        urlpatterns.extend([path("login/", LoginView.as_view(), name="login"), path("", include("machina.urls"))])
        return application

    def fill(self, content: Content) -> None:
        from django.contrib.auth.models import User
        from django.db import transaction
        from django.db.models.signals import pre_save
        from django.utils.text import slugify
        from machina.apps.forum.models import Forum
        from machina.apps.forum_conversation.models import Post, Topic

        call_command("migrate", verbosity=0)
        with transaction.atomic():
            users = User.objects.bulk_create(User(username=name, password="!") for name in content.users)
            categories, forums = {}, []
            for board in content.boards:
                if board.category not in categories:
                    categories[board.category] = Forum.objects.create(name=board.category, type=Forum.FORUM_CAT).pk
                parent = Forum.objects.get(pk=categories[board.category])  # read again: a child changed its place
                forums.append(Forum.objects.create(name=board.name, description=board.description, parent=parent,
                                                   type=Forum.FORUM_POST))
            self._grant({forum.pk for forum, board in zip(forums, content.boards) if board.members_only})
            topics = Topic.objects.bulk_create(
                Topic(forum=forums[thread.board], poster=users[thread.posts[0].author], subject=thread.title,
                      slug=slugify(thread.title, allow_unicode=True), views_count=thread.views,
                      type=Topic.TOPIC_STICKY if thread.sticky else Topic.TOPIC_POST,
                      status=Topic.TOPIC_LOCKED if thread.locked else Topic.TOPIC_UNLOCKED)
                for thread in content.threads)
            order, posts = content.posts_in_time(), []
            for _, i, j in order:
                drawn = content.threads[i].posts[j]
                posts.append(Post(topic=topics[i], poster=users[drawn.author], content=drawn.text,
                                  subject=("Re: " if j else "") + content.threads[i].title))
                pre_save.send(sender=Post, instance=posts[-1])  # renders its text
            Post.objects.bulk_create(posts)
            # Creation sets the present time; the drawn times are set afterwards.
            for post, (at, i, j) in zip(posts, order):
                post.created = post.updated = at.replace(tzinfo=timezone.utc)
                topics[i].last_post, topics[i].last_post_on, topics[i].posts_count = post, post.created, j + 1
                if j == 0:
                    topics[i].first_post, topics[i].created = post, post.created
            Post.objects.bulk_update(posts, ["created", "updated"], batch_size=200)
            Topic.objects.bulk_update(topics, ["created", "first_post", "last_post", "last_post_on", "posts_count"],
                                      batch_size=100)
            for forum in forums:
                Forum.objects.get(pk=forum.pk).update_trackers()

    def _grant(self, members_only: set[int]) -> None:
        from machina.apps.forum.models import Forum
        from machina.apps.forum_permission.models import ForumPermission, UserForumPermission

        for forum in Forum.objects.all():
            for name in ("can_see_forum", "can_read_forum"):
                permission = ForumPermission.objects.get(codename=name)
                UserForumPermission.objects.create(permission=permission, forum=forum, authenticated_user=True)
                if name == "can_see_forum" or forum.pk not in members_only:
                    UserForumPermission.objects.create(permission=permission, forum=forum, anonymous_user=True)

    def begin(self, board: int, author: int, title: str, text: str) -> None:
        from django.contrib.auth.models import User
        from machina.apps.forum.models import Forum
        from machina.apps.forum_conversation.models import Post, Topic

        poster = nth(User.objects, author)
        topic = Topic.objects.create(forum=nth(Forum.objects.filter(type=Forum.FORUM_POST), board), poster=poster,
                                     subject=title, type=Topic.TOPIC_POST, status=Topic.TOPIC_UNLOCKED)
        Post.objects.create(topic=topic, poster=poster, subject=title, content=text)

    def reply(self, thread: int, author: int, text: str) -> None:
        from django.contrib.auth.models import User
        from machina.apps.forum_conversation.models import Post, Topic

        topic = Topic.objects.get(pk=thread)
        Post.objects.create(topic=topic, poster=nth(User.objects, author), subject=f"Re: {topic.subject}", content=text)

    def describe(self) -> tuple[list[dict], list[dict]]:
        from machina.apps.forum.models import Forum
        from machina.apps.forum_conversation.models import Topic
        from machina.apps.forum_permission.models import UserForumPermission

        readable = set(UserForumPermission.objects.filter(
            permission__codename="can_read_forum", anonymous_user=True).values_list("forum_id", flat=True))
        boards = [{"id": forum.pk, "name": forum.name, "url": reverse("forum:forum", args=[forum.slug, forum.pk]),
                   "readable": forum.pk in readable}
                  for forum in Forum.objects.filter(type=Forum.FORUM_POST).order_by("pk")]
        threads = [{"id": topic.pk, "board": topic.forum_id, "title": topic.subject, "posts": topic.posts_count,
                    "url": reverse("forum_conversation:topic",
                                   args=[topic.forum.slug, topic.forum_id, topic.slug, topic.pk]),
                    "pages": ceil(topic.posts_count / PER_PAGE), "sticky": topic.is_sticky,
                    "last": int(topic.last_post_on.timestamp()), "readable": topic.forum_id in readable}
                   for topic in Topic.objects.select_related("forum").order_by("pk")]
        return boards, threads


if __name__ == "__main__":
    served.main(Machina())
