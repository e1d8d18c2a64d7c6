"""Spirit (Django) with generated Chinese threads, on loopback: twenty threads and twenty posts per page, its default.
The home page and a category's page list the threads of all boards in them. URLs: /category/ID/SLUG/?page=N,
/topic/ID/SLUG/?page=N, /comment/ID/find/ (leads to the page of the thread with it). It has no boards for
members, so that of the content is a removed board, which is never shown."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from datetime import timezone
from math import ceil
from pathlib import Path

HERE = sys.path.pop(0)  # this file has the package's name: what is imported now must not be this file

import spirit  # noqa: E402, F401
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import include, path  # noqa: E402

sys.path.insert(0, HERE)
import served  # noqa: E402
from content import Content  # noqa: E402
from djangos import CONTRIB, MIDDLEWARE, common, nth  # noqa: E402

PER_PAGE = 20
APPS = ["core", "admin", "search", "user", "user.admin", "user.auth", "category", "category.admin", "topic",
        "topic.admin", "topic.favorite", "topic.moderate", "topic.notification", "topic.private", "topic.unread",
        "comment", "comment.bookmark", "comment.flag", "comment.flag.admin", "comment.history", "comment.like",
        "comment.poll"]

urlpatterns: list = []  # the module is its own table of addresses, filled when it is opened


class Spirit:
    name = "Spirit"
    context = nullcontext

    def open(self, database: Path):
        settings.configure(
            **common(database, __name__, ["default", "st_rate_limit"], ["djconfig.context_processors.config"]),
            INSTALLED_APPS=CONTRIB + ["django.contrib.admin"] + [f"spirit.{app}" for app in APPS]
            + ["djconfig", "haystack"],
            MIDDLEWARE=MIDDLEWARE + ["djconfig.middleware.DjConfigMiddleware"],
            AUTHENTICATION_BACKENDS=["spirit.user.auth.backends.UsernameAuthBackend"],
            LOGIN_URL="spirit:user:auth:login",
            STATIC_ROOT=database.parent / "static",
            STORAGES={"default": {"BACKEND": "spirit.core.storage.OverwriteFileSystemStorage"},
                      "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}},
            ST_SITE_URL="http://127.0.0.1/",
        )
        application = get_wsgi_application()
        urlpatterns.append(path("", include("spirit.urls")))
        return application

    def fill(self, content: Content) -> None:
        from django.contrib.auth.models import User
        from django.db import transaction
        from spirit.category.models import Category
        from spirit.comment.models import Comment
        from spirit.topic.models import Topic

        call_command("migrate", verbosity=0)
        with transaction.atomic():
            users = [User.objects.create(username=name, email=f"user{i}@example.org", password="!")
                     for i, name in enumerate(content.users)]
            parents, boards = {}, []
            for board in content.boards:
                if board.category not in parents:
                    parents[board.category] = Category.objects.create(title=board.category)
                boards.append(Category.objects.create(title=board.name, description=board.description,
                                                      parent=parents[board.category], is_removed=board.members_only))
            topics = Topic.objects.bulk_create(
                Topic(category=boards[thread.board], user=users[thread.posts[0].author], title=thread.title,
                      is_pinned=thread.sticky, is_closed=thread.locked, view_count=thread.views,
                      comment_count=len(thread.posts), date=thread.posts[0].at.replace(tzinfo=timezone.utc),
                      last_active=thread.posts[-1].at.replace(tzinfo=timezone.utc))
                for thread in content.threads)
            comments = []
            for at, i, j in content.posts_in_time():
                drawn = content.threads[i].posts[j]
                comments.append(Comment(topic=topics[i], user=users[drawn.author], date=at.replace(tzinfo=timezone.utc),
                                        comment=drawn.text, comment_html=rendered(drawn.text)))
            Comment.objects.bulk_create(comments)

    def begin(self, board: int, author: int, title: str, text: str) -> None:
        from django.contrib.auth.models import User
        from spirit.category.models import Category
        from spirit.topic.models import Topic

        category = nth(Category.objects.exclude(parent=None), board)
        topic = Topic.objects.create(category=category, user=nth(User.objects, author), title=title)
        self.reply(topic.pk, author, text)

    def reply(self, thread: int, author: int, text: str) -> None:
        from django.contrib.auth.models import User
        from spirit.comment.models import Comment
        from spirit.comment.utils import comment_posted

        comment = Comment.objects.create(topic_id=thread, user=nth(User.objects, author), comment=text,
                                         comment_html=rendered(text))
        comment_posted(comment=comment, mentions={})

    def describe(self) -> tuple[list[dict], list[dict]]:
        from spirit.category.models import Category
        from spirit.topic.models import Topic

        boards = [{"id": board.pk, "name": board.title, "url": board.get_absolute_url(),
                   "readable": not board.is_removed}
                  for boards in (Category.objects.exclude(parent=None), Category.objects.filter(parent=None, pk__gt=2))
                  for board in boards.order_by("pk")]
        threads = [{"id": topic.pk, "url": topic.get_absolute_url(), "board": topic.category_id, "title": topic.title,
                    "posts": topic.comment_count, "pages": ceil(topic.comment_count / PER_PAGE),
                    "sticky": topic.is_pinned, "last": int(topic.last_active.timestamp()),
                    "readable": not topic.category.is_removed}
                   for topic in Topic.objects.select_related("category").order_by("pk")]
        return boards, threads


def rendered(text: str) -> str:
    return "".join(f"<p>{paragraph}</p>\n" for paragraph in text.split("\n\n"))


if __name__ == "__main__":
    served.main(Spirit())
