use suidao::world::*;
#[test]
fn debug() {
    let activity =
        ActivitySpec { boards: 6, users: 60, threads_per_day: 14.0, replies: 8.0, days: 14, ..ActivitySpec::default() };
    let spec = ForumSpec {
        skin: Skin::English,
        activity,
        threads_per_page: 10,
        posts_per_page: 8,
        categories: 2,
        ..ForumSpec::default()
    };
    let f = Forum::new(spec).unwrap();
    let now = f.spec().activity.start + 12 * 86400;
    let b = f.boards(now);
    println!("{b:?}");
    let a = f.answer(&b[0].url, now, 1);
    std::fs::write("/tmp/f5/x/slug2.html", &a.body).unwrap();
    let h = f.answer(&f.home(), now, 1);
    std::fs::write("/tmp/f5/x/slughome.html", &h.body).unwrap();
}
