#!/usr/bin/env bash
# Installs the forum software that the tests start into a virtual environment in the given directory.
#
#   tests/forums/install.sh target/tools/forums
#
# Versions are pinned. FlaskBB 2.0.2 (2018) pins versions of its time, some of which no longer build or run (simplejson's
# setup needs `Feature` of setuptools; Celery 4 needs `formatargspec` of inspect). So it is installed without its pins,
# with the newest version of each dependency that it still runs with.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }

python3 -m venv "$1"
pip() { "$1/bin/python" -m pip --quiet --disable-pip-version-check "${@:2}"; }

pip "$1" install setuptools==75.8.0 wheel==0.45.1
pip "$1" install \
    Flask==1.1.4 Werkzeug==0.16.1 Jinja2==2.11.3 MarkupSafe==2.0.1 itsdangerous==1.1.0 click==7.1.2 click-log==0.2.1 \
    SQLAlchemy==1.3.24 SQLAlchemy-Utils==0.37.9 alembic==1.4.3 Flask-Alembic==2.0.1 Flask-SQLAlchemy==2.5.1 \
    flask-allows==0.4.0 attrs==17.4.0 Flask-BabelPlus==2.1.1 Babel==2.9.1 speaklater==1.3 pytz==2024.2 blinker==1.4 \
    Flask-Caching==1.10.1 Flask-DebugToolbar==0.11.0 Flask-Limiter==1.4 limits==1.6 Flask-Login==0.5.0 \
    Flask-Mail==0.9.1 Flask-Redis==0.3.0 redis==3.5.3 Flask-Themes2==0.1.4 flask-whooshee==0.5.0 Whoosh==2.7.4 \
    Flask-WTF==0.14.3 WTForms==2.2.1 celery==5.1.2 kombu==5.1.0 vine==5.0.0 mistune==0.8.4 pluggy==0.6.0 \
    Pygments==2.2.0 python-dateutil==2.9.0.post0 requests==2.32.3 simplejson==3.19.3 Unidecode==1.3.8 six==1.17.0 \
    Django==5.2.19 django-machina==1.3.1 django-spirit==0.14.3
pip "$1" install --no-deps flaskbb==2.0.2

# FlaskBB's wheel has its translations as text only, and its Babel needs the longer name of Chinese.
words=$(echo "$1"/lib/python3*/site-packages/flaskbb)/translations
"$1/bin/pybabel" --quiet compile --use-fuzzy --locale zh_CN --directory "$words"
cp -rT "$words/zh_CN" "$words/zh_Hans_CN"
